"""Clients of other projects, as their authors ship them: swift-bench and python-swiftclient."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.configuration import StoreUser
from zoe_embedded.swift.environment import ensure_swift
from zoe_embedded.swift.store import ObjectStore

_FINAL = re.compile(r"(\d+) (PUTS|GETS|DEL) \*\*FINAL\*\* \[(\d+) failures\], ([\d.]+)/s")


@dataclass(frozen=True)
class Final:
    """The final report of a phase of swift-bench."""

    done: int
    failures: int
    per_s: float


def swift_bench(store: ObjectStore, user: StoreUser, objects: int, size: int, concurrency: int) -> dict[str, Final]:
    """Put, get and delete this many objects."""
    options = {"-c": concurrency, "-s": size, "-n": objects, "-g": objects}
    numbers = [str(word) for pair in options.items() for word in pair]
    done = run("swift-bench", "-A", store.auth_url, "-U", user.login, "-K", user.key, *numbers)
    text = done.stdout + done.stderr
    found = {name: Final(int(n), int(failed), float(rate)) for n, name, failed, rate in _FINAL.findall(text)}
    assert set(found) == {"PUTS", "GETS", "DEL"}, text
    return found


def swift_client(store: ObjectStore, user: StoreUser, *arguments: str, cwd: Path) -> str:
    """Return the output of `swift`."""
    return run("swift", "-A", store.auth_url, "-U", user.login, "-K", user.key, *arguments, cwd=cwd).stdout


def run(program: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program of Swift's environment; fail with its error."""
    path = ensure_swift(Home.find(CLONE)) / "bin" / program
    command = [str(path.with_name("python")), "-W", "ignore", str(path), *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
