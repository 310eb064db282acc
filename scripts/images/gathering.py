"""Inputs of an image from outside of its build directory, and their identity before they are fetched."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scripts.images.engine import ROOT, BuildError
from zoe_embedded.runtimes.jars import COMPILER, STOCATOR, JarError, compiler_jar, stocator_jars
from zoe_embedded.runtimes.pip_configuration import download_environment
from zoe_embedded.runtimes.pushdown_jar import SOURCES
from zoe_embedded.runtimes.runtime import PYTHON_OF_IMAGES, client_identity, copy_client, spark_packages

_CATALOGUE = ROOT / "app_descriptions"
_REQUIREMENTS = ROOT / "requirements"
_AUTHORITIES = _CATALOGUE / "images" / "ca"
_WHEEL = (
    "alembic",
    "app_descriptions",
    *(path.name for path in ROOT.glob("zoe_*")),
    *(path.name for path in ROOT.glob("storage_*")),
)
_SHEBANG = re.compile(r"#!.*\n")


class ImageInput(Protocol):
    """One input of an image."""

    def identity(self) -> bytes:
        """Return a text that changes whenever the result of `put` would; quick, and without a network."""

    def put(self, context: Path) -> None:
        """Put the input into the build directory. Raises BuildError."""


def identity_of(path: Path, name: str) -> bytes:
    """Return a file's name, mode and content."""
    return f"{name} {path.stat().st_mode:o} ".encode() + hashlib.sha256(path.read_bytes()).digest()


@dataclass(frozen=True, slots=True, init=False)
class Files:
    """Files of the catalogue, side by side."""

    paths: tuple[Path, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "paths", tuple(_CATALOGUE / name for name in names))

    def identity(self) -> bytes:
        """Return the identity of all files."""
        return b"".join(identity_of(path, path.name) for path in self.paths)

    def put(self, context: Path) -> None:
        """Copy the files."""
        for path in self.paths:
            shutil.copy(path, context)


class Authorities:
    """Certificates of the network's own CA, if it has one: app_descriptions/images/ca/*.crt."""

    def identity(self) -> bytes:
        """Return the identity of all certificates."""
        return b"".join(identity_of(path, path.name) for path in sorted(_AUTHORITIES.glob("*.crt")))

    def put(self, context: Path) -> None:
        """Write `ca/`, which is empty without such a CA."""
        (context / "ca").mkdir(exist_ok=True)
        for path in _AUTHORITIES.glob("*.crt"):
            shutil.copy(path, context / "ca")


class Busybox:
    """Debian's static busybox, linked under each of its names."""

    def identity(self) -> bytes:
        """Return the identity of the program."""
        found = shutil.which("busybox")
        return identity_of(Path(found), "busybox") if found else b"absent"

    def put(self, context: Path) -> None:
        """Write `root/`."""
        busybox = shutil.which("busybox")
        # A dynamic program has its interpreter's name near the beginning.
        if busybox is None or b"ld-linux" in Path(busybox).read_bytes()[:4096]:
            raise BuildError("zoe/tiny is made of a static busybox: apt-get install busybox-static")
        root = context / "root"
        for folder, mode in (("bin", 0o755), ("etc", 0o755), ("tmp", 0o1777)):
            (root / folder).mkdir(parents=True)
            (root / folder).chmod(mode)
        shutil.copy(busybox, root / "bin" / "busybox")
        (root / "etc" / "passwd").write_text("root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n")
        listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
        for applet in listed:
            if applet != "busybox":
                (root / "bin" / applet).symlink_to("busybox")


class SparkPackages:
    """PySpark and its dependencies at the locked versions."""

    def identity(self) -> bytes:
        """Return the identity of the lock file."""
        return (_REQUIREMENTS / "runtime.lock").read_bytes()

    def put(self, context: Path) -> None:
        """Write `site/`."""
        spark_packages(context / "site")


@dataclass(frozen=True, slots=True)
class PythonPackages:
    """The packages of a lock file in requirements/, checked against its hashes."""

    lock: str

    def identity(self) -> bytes:
        """Return the identity of the lock file."""
        return (_REQUIREMENTS / self.lock).read_bytes()

    def put(self, context: Path) -> None:
        """Write `prefix/`, in the layout of /usr/local on Debian."""
        lock = _REQUIREMENTS / self.lock
        _install(
            context / "prefix", f"requirements/{self.lock}", "--require-hashes", "--only-binary", ":all:", "-r", lock
        )


class ZoeClient:
    """The SDK and the command line; their dependencies are among the packages of the notebook."""

    def identity(self) -> bytes:
        """Return the identity of their sources."""
        return client_identity()

    def put(self, context: Path) -> None:
        """Write into `prefix/`."""
        packages = context / "prefix" / "lib" / f"python{PYTHON_OF_IMAGES}" / "dist-packages"
        packages.mkdir(parents=True, exist_ok=True)
        copy_client(packages)


class Zoe:
    """Zoe itself, without its dependencies."""

    def identity(self) -> bytes:
        """Return the identity of everything from which its wheel is made."""
        sources = [ROOT / "pyproject.toml", *(path for name in _WHEEL for path in (ROOT / name).rglob("*"))]
        kept = (path for path in sorted(sources) if path.is_file() and "__pycache__" not in path.parts)
        return b"".join(identity_of(path, path.relative_to(ROOT).as_posix()) for path in kept)

    def put(self, context: Path) -> None:
        """Write into `prefix/`."""
        with tempfile.TemporaryDirectory() as directory:
            build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", directory]
            built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
            if built.returncode != 0:
                raise BuildError(f"Zoe's own wheel cannot be built: {built.stderr}")
            (wheel,) = Path(directory).glob("*.whl")
            _install(context / "prefix", wheel.name, "--no-deps", wheel)


def _install(prefix: Path, what: str, *wanted: str | Path) -> None:
    packages = prefix / "lib" / f"python{PYTHON_OF_IMAGES}" / "dist-packages"
    packages.mkdir(parents=True, exist_ok=True)
    uv = Path(sys.executable).with_name("uv")
    target: list[str | Path] = ["--target", packages, "--link-mode", "copy", "--python", sys.executable]
    target += ["--python-version", PYTHON_OF_IMAGES]
    env = download_environment(Path(sys.executable))
    if subprocess.run([uv, "pip", "install", "-q", *target, *wanted], env=env, check=False).returncode != 0:
        raise BuildError(f"{what} cannot be installed")
    for folder in ("bin", "etc", "share"):
        if (packages / folder).is_dir():
            shutil.copytree(packages / folder, prefix / folder, dirs_exist_ok=True)
            shutil.rmtree(packages / folder)
    for program in (prefix / "bin").iterdir():
        # They contain the path of the Python that installed them.
        program.write_text(_SHEBANG.sub("#!/usr/bin/python3\n", program.read_text(), count=1))


class StocatorJars:
    """Stocator and its dependencies, checked against their hashes."""

    def identity(self) -> bytes:
        """Return the hashes."""
        return repr(STOCATOR).encode()

    def put(self, context: Path) -> None:
        """Write `jars/`."""
        (context / "jars").mkdir()
        try:
            for jar in stocator_jars():
                shutil.copy(jar, context / "jars")
        except JarError as error:
            raise BuildError(str(error)) from error


class QueryPushdown:
    """Sources of Spark's pushdown, and a compiler for them, checked against its hash."""

    def identity(self) -> bytes:
        """Return the identity of all sources and of the compiler."""
        sources = sorted(SOURCES.glob("*.java"))
        return b"".join((*(identity_of(path, path.name) for path in sources), repr(COMPILER).encode()))

    def put(self, context: Path) -> None:
        """Write `pushdown/`."""
        (context / "pushdown").mkdir()
        for path in SOURCES.glob("*.java"):
            shutil.copy(path, context / "pushdown")
        try:
            shutil.copy(compiler_jar(), context / "pushdown" / "ecj.jar")
        except JarError as error:
            raise BuildError(str(error)) from error
