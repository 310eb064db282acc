"""An archive of Spark's classes, which all its JVMs map instead of reading and verifying jars one by one.

It is made once for a runtime, by a JVM that uses most of Spark and writes its classes when it ends
(https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html). Each JVM checks that its version, its class path
and the times of all jars are those of the archive. Whether its bytes are those that were written is checked here.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from zoe_embedded.runtimes.store import locked, make_readable

_LOG = logging.getLogger(__name__)
_ARCHIVE, _STAMP, _FAILED, _LOCK = "spark.jsa", "spark.jsa.sha256", "zoe-java.failed", "zoe-java.lock"
_MADE_WITHIN_S = 300.0
_UNUSED_S = 14 * 86400.0
_FAILED_S = 86400.0
_PROGRAMS = ("make-java", "zoe-java", "load_classes.py")


@dataclass(frozen=True, slots=True)
class Parts:
    """What an archive is made of: homes of the JVM and of Spark, a Python, and the folder of the programs."""

    java: Path
    spark: Path
    python: Path
    programs: Path

    @property
    def maker(self) -> Path:
        """Return the program that makes a JAVA_HOME with an archive, here and in images."""
        return self.programs / "make-java"

    @property
    def identity(self) -> str:
        """Return a hash that differs if an archive has to be made anew; packages have a runtime of their own."""
        digest = hashlib.sha256(str(self.java).encode())
        for file in (self.java / "release", *(self.programs / name for name in _PROGRAMS)):
            digest.update(file.read_bytes())
        return digest.hexdigest()


def java_home(directory: Path, parts: Parts) -> Path:
    """Return a JAVA_HOME for the Spark of a runtime: one with an archive of its classes, or else the JVM's own.

    Without a whole archive, Spark starts as it does without Zoe, and the log says why. After a failure it is not made
    again for a day, or until one of its parts has changed: a machine that was too busy is not always.
    """
    try:
        with locked(directory / _LOCK):
            return _provided(directory, parts)
    except (OSError, subprocess.SubprocessError) as error:
        _LOG.warning("Spark starts without an archive of its classes, which takes longer: %s", error)
        with contextlib.suppress(OSError):
            (directory / _FAILED).write_text(parts.identity)
        return parts.java


def _provided(directory: Path, parts: Parts) -> Path:
    identity = parts.identity
    home = directory / f"java-{identity[:16]}"  # programs of another version of Zoe may run from theirs
    if not _whole(home, identity):
        failed = directory / _FAILED
        if failed.is_file() and failed.read_text() == identity and time.time() - failed.stat().st_mtime < _FAILED_S:
            return parts.java
        try:
            _make(home, parts)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(home, ignore_errors=True)
            raise
        (home / _STAMP).write_text(f"{identity} {_sha256(home / _ARCHIVE)}")
    _forget_unused(home)
    return home


def _forget_unused(used: Path) -> None:
    """Remove what other versions of Zoe have made here and no longer use."""
    with contextlib.suppress(OSError):  # a runtime that only others may write
        os.utime(used / _STAMP)
    for stamp in used.parent.glob(f"java*/{_STAMP}"):
        if stamp.parent != used and time.time() - stamp.stat().st_mtime > _UNUSED_S:
            shutil.rmtree(stamp.parent, ignore_errors=True)


def _whole(home: Path, identity: str) -> bool:
    archive, stamp = home / _ARCHIVE, home / _STAMP
    if not stamp.is_file() or not archive.is_file():
        return False
    return stamp.read_text() == f"{identity} {_sha256(archive)}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _make(home: Path, parts: Parts) -> None:
    print("[runtime: making an archive of Spark's classes, once; up to two minutes if the machine is busy]", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    command = [str(part) for part in ("sh", parts.maker, parts.java, parts.spark, parts.python, home)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_MADE_WITHIN_S, check=False)
    if done.returncode != 0:
        raise OSError(f"{parts.maker.name} ended with {done.returncode}: {done.stderr[-1000:]}")
    make_readable(home)
