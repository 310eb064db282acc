"""An archive of Spark's classes, which all its JVMs map instead of reading and verifying jars one by one.

A JVM that uses most of Spark writes it once for a runtime, when it ends
(https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html). Each JVM checks its version, its class path and
the times of all jars against the archive. This module checks that the bytes of the archive are intact.
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

from zoe_embedded.runtimes.store import lock_file, make_readable

_LOG = logging.getLogger(__name__)
_ARCHIVE, _STAMP, _FAILED, _LOCK = "spark.jsa", "spark.jsa.sha256", "zoe-java.failed", "zoe-java.lock"
_MADE_WITHIN_S = 300.0
_UNUSED_S = 14 * 86400.0
_FAILED_S = 86400.0
_PROGRAMS = ("make-java", "zoe-java", "load_classes.py")


@dataclass(frozen=True, slots=True)
class Parts:
    """Inputs of an archive: homes of the JVM and of Spark, a Python, and the folder of the programs."""

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
        """Return a hash that changes if an archive has to be made anew; packages have their own runtime."""
        digest = hashlib.sha256(str(self.java).encode())
        for file in (self.java / "release", *(self.programs / name for name in _PROGRAMS)):
            digest.update(file.read_bytes())
        return digest.hexdigest()


def java_home(directory: Path, parts: Parts) -> Path:
    """Return a JAVA_HOME for the Spark of a runtime: one with an archive of its classes, or otherwise the JVM's own.

    Without an intact archive, Spark starts as it does without Zoe, and the log has the reason. After a failure, the
    next attempt is a day later, or when one of its inputs has changed: a machine may have been too busy.
    """
    try:
        with lock_file(directory / _LOCK):
            return _provide(directory, parts)
    except (OSError, subprocess.SubprocessError) as error:
        _LOG.warning("Spark starts without an archive of its classes, which takes longer: %s", error)
        with contextlib.suppress(OSError):
            (directory / _FAILED).write_text(parts.identity)
        return parts.java


def _provide(directory: Path, parts: Parts) -> Path:
    identity = parts.identity
    home = directory / f"java-{identity[:16]}"  # programs of another version of Zoe may run from theirs
    if not _is_intact(home, identity):
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
    """Remove unused files of other versions of Zoe."""
    with contextlib.suppress(OSError):  # a runtime that only others may write
        os.utime(used / _STAMP)
    for stamp in used.parent.glob(f"java*/{_STAMP}"):
        if stamp.parent != used and time.time() - stamp.stat().st_mtime > _UNUSED_S:
            shutil.rmtree(stamp.parent, ignore_errors=True)


def _is_intact(home: Path, identity: str) -> bool:
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
