"""Clocks of programs that jump, by Debian's libfaketime: each program has a file with what its clock is wrong by.

Only the wall clock is changed: the monotonic one, time-outs and the times of files stay.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from multiprocessing import forkserver
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE

_NAME = "libfaketime.so.1"
_FOLDER = f"usr/lib/{platform.machine()}-linux-gnu/faketime"
_RIGHT = "+0"
_DOWNLOAD_S = 60
_OF_ALL = {
    "DONT_FAKE_MONOTONIC": "1",
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    "NO_FAKE_STAT": "1",
    "FAKETIME_CACHE_DURATION": "1",
}


def find_library() -> Path | None:
    """Return the library: installed, or unpacked from Debian's package into Zoe's home; None where neither can be."""
    installed = Path("/", _FOLDER, _NAME)
    unpacked = Home.find(CLONE).create().path / "debian" / "libfaketime"
    if installed.exists():
        return installed
    if not (unpacked / _FOLDER / _NAME).exists():
        _unpack("libfaketime", unpacked)
    return unpacked / _FOLDER / _NAME if (unpacked / _FOLDER / _NAME).exists() else None


def _unpack(package: str, to: Path) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        return
    with tempfile.TemporaryDirectory() as apart:
        Path(apart).chmod(0o755)  # apt downloads as a user of its own
        options = ["APT::Sandbox::User=root", "Acquire::Retries=0", "Acquire::http::Timeout=10"]
        words = ["apt-get", "-qq", *(word for option in options for word in ("-o", option)), "download", package]
        try:
            subprocess.run(words, cwd=apart, capture_output=True, check=True, timeout=_DOWNLOAD_S)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return
        [file] = Path(apart).glob("*.deb")
        to.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg", "-x", str(file), str(to)], check=True)


class Clocks:
    """A directory with the files of all programs."""

    def __init__(self, library: Path, directory: Path) -> None:
        self._library = library
        self._directory = directory

    def fork_with_library(self) -> None:
        """Let all programs that are forked from now on have the library; to be called before the first."""
        before = dict(os.environ)
        os.environ.update(self.preloaded("right"))
        try:
            forkserver.ensure_running()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def environment(self, program: str) -> dict[str, str]:
        """Return what a forked program is started with that has this clock."""
        return {"FAKETIME_TIMESTAMP_FILE": str(self._file(program))}

    def preloaded(self, program: str) -> dict[str, str]:
        """Return what an executed program is started with that has this clock."""
        return {"LD_PRELOAD": str(self._library), **_OF_ALL, **self.environment(program)}

    def jump(self, program: str, seconds: int) -> None:
        """Let the program's clock be wrong by so much from now on; it notices within a second."""
        path = self._directory / f"{program}.clock"
        draft = path.with_suffix(".draft")
        draft.write_text(f"{seconds:+d}\n")
        draft.rename(path)

    def _file(self, program: str) -> Path:
        path = self._directory / f"{program}.clock"
        if not path.exists():
            path.write_text(f"{_RIGHT}\n")
        return path
