"""The wheel, built and installed into an empty environment outside of the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.support.postgres import postgres_server, postgres_url, store

__all__ = ["postgres_server", "postgres_url", "store"]

TIMEOUT_S = 300
UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Installed:
    """An environment that holds the wheel, and a directory to work in."""

    directory: Path
    environment: dict[str, str]

    def path(self, program: str) -> Path:
        return self.directory / "venv" / "bin" / program

    def run(self, program: str, *arguments: str, stdin: str = "", **variables: str) -> str:
        """What a program of the environment prints, run where no source is."""
        done = subprocess.run(
            [self.path(program), *arguments],
            input=stdin,
            env={**self.environment, **variables},
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def build(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    done = build(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", directory)
    assert done.returncode == 0, done.stderr
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    directory = tmp_path_factory.mktemp("installed")
    made = installation_of(directory, sys.executable)
    python = made.path("python")
    into = (UV, "pip", "install", "-q", "--offline", "--python", python)
    locked = build(*into, "--constraint", "requirements/zoe.lock", wheel)
    if locked.returncode != 0:
        # uv's cache has been cleared: the locked packages of this environment stand in, without this source tree.
        assert build(*into, "--no-deps", wheel).returncode == 0
        site = next((directory / "venv" / "lib").glob("python3*/site-packages"))
        (site / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


def installation_of(directory: Path, interpreter: str) -> Installed:
    """An environment in which nothing is installed yet."""
    python = directory / "venv" / "bin" / "python"
    assert build(UV, "venv", "-q", "--python", interpreter, directory / "venv").returncode == 0
    kept = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TMPDIR") if key in os.environ}
    own = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(directory), "ZOE_HELPER": "0"}
    return Installed(directory, {**kept, **own})
