"""Check the prerequisites of this machine before a build that takes minutes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from zoe_embedded.home import RUNTIMES_VARIABLE, Home, cache_directory
from zoe_embedded.runtimes.interpreters import SPARK, PythonMissingError, find_python
from zoe_embedded.runtimes.runtime import runtime_is_built

MEMCACHED = "memcached"
PROGRAMS = {MEMCACHED: "apt-get install -y memcached"}
"""Programs of Debian, and how to install them."""
_RUNTIME_BYTES = 2 << 30
"""Spark and Java take 0.9 GiB while they are installed; the notebook 1 GiB more."""
_WHEEL_BYTES = 1 << 30
"""Spark's source package, its build directory and its wheel."""
_DATA_BYTES = 512 << 20
"""The database, logs, and the readings of the demos."""
_MORE_PATHS = ("/usr/bin", "/usr/sbin")


class NeedsError(Exception):
    """Prerequisites are missing; the message lists all of them, with a remedy."""


def find_program(name: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the path of a program, on the PATH or where Debian installs it."""
    return shutil.which(name, path=os.pathsep.join([environment.get("PATH", ""), *_MORE_PATHS]))


def check(home: Home, programs: Sequence[str] = (), spark: bool = True) -> None:
    """Raise NeedsError unless all prerequisites exist: programs, a Python for Spark, room on the disks."""
    lacking = [f"{name}: not installed; {PROGRAMS[name]}" for name in programs if find_program(name) is None]
    if spark:
        try:
            find_python(SPARK, "Spark")
        except PythonMissingError as error:
            lacking.append(str(error))
    lacking += _room(home.path, _DATA_BYTES, "ZOE_HOME")
    if spark and not runtime_is_built(home):
        lacking += _room(home.runtimes, _DATA_BYTES + _RUNTIME_BYTES, RUNTIMES_VARIABLE)
        lacking += _room(cache_directory(), _WHEEL_BYTES, "XDG_CACHE_HOME")
    if lacking:
        raise NeedsError("\n".join(lacking))


def _room(path: Path, wanted_bytes: int, variable: str) -> list[str]:
    there = next(place for place in (path, *path.parents) if place.exists())
    free_bytes = shutil.disk_usage(there).free
    if free_bytes >= wanted_bytes:
        return []
    return [
        f"{path}: {free_bytes / 2**30:.1f} GiB free, {wanted_bytes / 2**30:.1f} GiB needed; "
        f"make room, or set {variable} to another disk"
    ]
