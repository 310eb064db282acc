"""Run the `docker` command, with its output in a log and its progress on the terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "images"
LABEL = "zoe.image"
_SHOWN_CHARACTERS = 110
_TOLD_LINES = 40
_STEPS = re.compile(r"Step \d|#\d+ \[")  # the engine's own builder, and BuildKit


class BuildError(Exception):
    """An image cannot be built; the message says why and what to do."""


@dataclass(frozen=True)
class Engine:
    """The engine that `docker` uses with these variables; by default those of this process."""

    environment: Mapping[str, str] = field(default_factory=dict)

    def require(self) -> None:
        """Raise BuildError if the engine does not answer."""
        if shutil.which("docker") is None or not self.succeeds("version"):
            raise BuildError("no Docker Engine answers; install one (docker.io), or set DOCKER_HOST")

    def succeeds(self, *arguments: str) -> bool:
        """Return whether a docker command succeeds; print nothing."""
        done = subprocess.run(["docker", *arguments], capture_output=True, check=False, env=self._variables())
        return done.returncode == 0

    def image(self, name: str) -> dict[str, Any] | None:
        """Return the engine's report on an image; None if it does not exist."""
        command = ["docker", "image", "inspect", name]
        done = subprocess.run(command, capture_output=True, check=False, env=self._variables())
        found: list[dict[str, Any]] = json.loads(done.stdout) if done.returncode == 0 else []
        return found[0] if found else None

    def size_bytes(self, name: str) -> int:
        """Return the size of an image with all its layers."""
        found = self.image(name)
        return int(found["Size"]) if found else 0

    def key(self, name: str) -> str | None:
        """Return the hash of an image's inputs; None if it does not exist, or was not built here."""
        found = self.image(name)
        return (found["Config"].get("Labels") or {}).get(LABEL) if found else None

    def build(self, context: Path, name: str, key: str, log: str) -> None:
        """Build a directory into an image."""
        # The host's network also works for engines without a bridge, and for name servers on loopback.
        options = ["--network", "host", "--label", f"{LABEL}={key}", "--tag", name]
        self.run(["docker", "build", *options, str(context)], log, _STEPS)

    def run(self, command: Sequence[str], log: str, shown: re.Pattern[str] | None = None, stdin: Any = None) -> None:
        """Run a command that must succeed; the log gets all its output, the terminal the lines that match `shown`."""
        LOGS.mkdir(parents=True, exist_ok=True)
        path = LOGS / f"{log}.log"
        with path.open("w") as file, subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=self._variables(),
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                file.write(line)
                if shown and shown.match(line):
                    print(f"    {line.rstrip()[:_SHOWN_CHARACTERS]}", flush=True)
        if process.returncode != 0:
            end = "\n".join(path.read_text().splitlines()[-_TOLD_LINES:])
            raise BuildError(f"{end}\nfailed ({process.returncode}): {' '.join(command)}\nall of it: {path}")

    def _variables(self) -> dict[str, str]:
        # Use the builder that every engine has; the newer one is an extra package on Debian.
        return {"DOCKER_BUILDKIT": "0", **os.environ, **self.environment}


def say(text: str) -> None:
    """Print progress."""
    print(f"[{text}]", flush=True)
