"""The jar with which Spark asks the store for columns and rows: compiled once from the sources in `storage_bridge`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import storage_bridge
from zoe_embedded.home import Home, cache_directory
from zoe_embedded.runtimes.jars import JarError, compiler_jar
from zoe_embedded.runtimes.runtime import LOCK, ensure_runtime, runtime_is_built
from zoe_embedded.runtimes.store import make_readable

SOURCES = Path(storage_bridge.__file__).parent / "spark_pushdown"
_COMPILE_TIMEOUT_S = 300
_SERVICES = {"org.apache.spark.sql.sources.DataSourceRegister": "zoe.pushdown.Notice"}
"""Interface and class, for ServiceLoader of Java."""
_OPTIONS = ("-proc:none", "-11", "-nowarn")
# Equal sources give an equal jar.
_TIME = (1980, 1, 1, 0, 0, 0)


def pushdown_jar(spark_home: Path, java_home: Path) -> Path:
    """Return the jar, compiling it if the sources or Spark's jars are others than last time. Raises JarError."""
    spark = sorted(path.name.encode() for path in (spark_home / "jars").glob("spark-*.jar"))
    jar = cache_directory() / "jars" / f"zoe-pushdown-{_key(spark)}.jar"
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=jar.parent) as directory:
            _compile(_sources(), spark_home, java_home, Path(directory))
            draft = jar.with_name(f"{jar.name}.{os.getpid()}")
            _pack(Path(directory), draft)
            draft.replace(jar)
    return jar


def readable_pushdown(home: Home) -> list[str]:
    """Return where components may read the jar; it is there once Spark's runtime is. Raises JarError."""
    place = home.runtime / "jars" / f"zoe-pushdown-{_key([LOCK.read_bytes()])}.jar"
    if not place.exists() and runtime_is_built(home):
        environment = ensure_runtime(home).environment
        jar = pushdown_jar(Path(environment["SPARK_HOME"]), Path(environment["JAVA_HOME"]))
        place.parent.mkdir(exist_ok=True)
        draft = place.with_name(f"{place.name}.{os.getpid()}")
        draft.write_bytes(jar.read_bytes())
        draft.replace(place)
        make_readable(place.parent)
    return [str(place)]


def _key(spark: list[bytes]) -> str:
    """Return the key of the sources and a version of Spark."""
    return hashlib.sha256(
        b"\0".join([repr(_SERVICES).encode(), *(path.read_bytes() for path in _sources()), *spark])
    ).hexdigest()[:16]


def _sources() -> list[Path]:
    return sorted(SOURCES.glob("*.java"))


def _compile(sources: list[Path], spark_home: Path, java_home: Path, directory: Path) -> None:
    class_path = ":".join(str(path) for path in sorted((spark_home / "jars").glob("*.jar")))
    java = shutil.which("java", path=str(java_home / "bin")) or "java"
    command = [java, "-jar", str(compiler_jar()), *_OPTIONS, "-cp", class_path, "-d", str(directory)]
    try:
        done = subprocess.run(
            [*command, *map(str, sources)], capture_output=True, text=True, timeout=_COMPILE_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise JarError(f"cannot compile the pushdown of Spark: {error}") from error
    if done.returncode:
        raise JarError(f"cannot compile the pushdown of Spark: {(done.stdout + done.stderr)[:2000]}")


def _pack(directory: Path, jar: Path) -> None:
    with ZipFile(jar, "w") as archive:
        for path in sorted(directory.rglob("*.class")):
            archive.writestr(ZipInfo(str(path.relative_to(directory)), _TIME), path.read_bytes())
        for service, name in _SERVICES.items():
            archive.writestr(ZipInfo(f"META-INF/services/{service}", _TIME), f"{name}\n")
