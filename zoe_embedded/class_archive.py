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
import shlex
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from zoe_embedded.runtime_store import locked, make_readable

_LOG = logging.getLogger(__name__)
_ARCHIVE, _STAMP, _FAILED, _LOCK = "spark.jsa", "spark.jsa.sha256", "zoe-java.failed", "zoe-java.lock"
_MADE_WITHIN_S = 300.0
_UNUSED_S = 14 * 86400.0
_WHILE_MADE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:cds=off -Xlog:cds+dynamic=off"


@dataclass(frozen=True, slots=True)
class Parts:
    """What an archive is made of: homes of the JVM and of Spark, a Python, and the folder of script and program."""

    java: Path
    spark: Path
    python: Path
    programs: Path

    @property
    def wrapper(self) -> Path:
        """Return the text of the `java` that adds the archive."""
        return self.programs / "zoe-java"

    @property
    def program(self) -> Path:
        """Return the program that uses most of Spark."""
        return self.programs / "load_classes.py"

    @property
    def identity(self) -> str:
        """Return a hash that differs if an archive has to be made anew; packages have a runtime of their own."""
        digest = hashlib.sha256(str(self.java).encode())
        for file in (self.java / "release", self.program, self.wrapper):
            digest.update(file.read_bytes())
        return digest.hexdigest()


def java_home(directory: Path, parts: Parts) -> Path:
    """Return a JAVA_HOME for the Spark of a runtime: one with an archive of its classes, or else the JVM's own.

    Without a whole archive, Spark starts as it does without Zoe, and the log says why. After a failure it is not made
    again until one of its parts has changed.
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
        if failed.is_file() and failed.read_text() == identity:
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
    (home / "bin").mkdir(parents=True)
    links = [path for path in parts.java.iterdir() if path.name != "bin"]
    links += [path for path in (parts.java / "bin").iterdir() if path.name != "java"]
    for path in links:
        (home / path.relative_to(parts.java)).symlink_to(path)
    archive, wrapper = home / _ARCHIVE, home / "bin" / "java"
    text = parts.wrapper.read_text()
    filled = {"@JAVA@": parts.java / "bin" / "java", "@ARCHIVE@": archive, "@JARS@": parts.spark / "jars"}
    for mark, path in filled.items():
        text = text.replace(mark, shlex.quote(str(path)))
    wrapper.write_text(text)
    wrapper.chmod(0o755)
    _dump(archive, parts, home)
    make_readable(home)


def _dump(archive: Path, parts: Parts, java_home: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            "JAVA_HOME": str(java_home),  # it puts the class path in the order that it has later
            "SPARK_HOME": str(parts.spark),
            "PYSPARK_PYTHON": str(parts.python),
            "PATH": os.pathsep.join((str(parts.python.parent), "/usr/bin", "/bin")),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": scratch,
            "SPARK_WORKER_DIR": scratch,
            "SPARK_SUBMIT_OPTS": f"-XX:ArchiveClassesAtExit={archive} {_WHILE_MADE}",
        }
        options = {"spark.ui.enabled": "false", "spark.executor.memory": "512m", "spark.log.level": "ERROR"}
        settings = [part for name, value in options.items() for part in ("--conf", f"{name}={value}")]
        command = [str(parts.spark / "bin" / "spark-submit"), *settings, str(parts.program)]
        done = subprocess.run(
            command, env=environment, cwd=scratch, capture_output=True, text=True, timeout=_MADE_WITHIN_S, check=False
        )
    if done.returncode != 0 or not archive.exists():
        raise OSError(f"the program that uses its classes ended with {done.returncode}: {done.stderr[-1000:]}")
