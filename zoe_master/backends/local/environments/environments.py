"""Paths of environments, and the processes that make them.

An environment belongs to one system user: a user who can write to it could run programs only as that user, which is
allowed anyway. It is never shared among users (decision 29).
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zoe_client.documents.shortening import shortened_list
from zoe_lib.domain.applications.application import Component
from zoe_master.backends.environments import build
from zoe_master.backends.local.files import directories
from zoe_master.backends.local.files.directories import ComponentUser
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.local.supervisor.spec import PrepareProcess
from zoe_master.backends.services.failures import CannotStartError

_FORMAT = 1
_NAMED_MAX = 5
"""Part of each name: increased when environments are made in another way."""
_PIP = ".pip"
_TAG = str(sys.implementation.cache_tag)
_SOURCE = Path(build.__file__)


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of one component, complete or not."""

    directory: Path
    python: str
    component: Component

    @property
    def bin(self) -> str:
        """Return the directory for PATH."""
        return str(self.directory / "bin")

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the variables that activation would set, apart from PATH."""
        return {"VIRTUAL_ENV": str(self.directory), "PYTHONDONTWRITEBYTECODE": "1"}


def base_of(settings: LocalSettings, user: str, owner: ComponentUser | None) -> Path:
    """Return the directory with all environments of a user, making it; the user owns it."""
    assert settings.environments_dir is not None
    name = f"{os.geteuid() if owner is None else owner.uid}-{user}"
    return directories.make_owned(settings.environments_dir, (name,), owner)


def environment_of(component: Component, path: str, base: Path, settings: LocalSettings) -> Environment | None:
    """Return the environment that a component needs, with the first python3 of PATH; CannotStartError."""
    if not component.requirements:
        return None
    python = shutil.which("python3", path=path)
    if python is None:
        raise CannotStartError(f"component {component.name} has requirements, but its image has no python3")
    return Environment(base / _key(component, python, settings), python, component)


def prepare_spec(
    made: Environment, environment: Mapping[str, str], withheld: Sequence[str], settings: LocalSettings
) -> PrepareProcess:
    """Return the processes that the supervisor runs before the component."""
    task = {
        "directory": str(made.directory),
        "requirements": made.component.requirements,
        "build": made.component.build_requirements,
        "pip": str(_pip(settings)),
        "index_url": settings.environment_index_url,
        "wheelhouse": settings.environment_wheelhouse,
        "bytes_max": settings.environment_bytes_max,
    }
    return {
        "argv": [made.python, "-I", "-c", _SOURCE.read_text(), json.dumps(task)],
        "environment": dict(environment),
        "message": f"making the environment of {shortened_list(made.component.requirements, _NAMED_MAX)}",
        "timeout_s": settings.environment_build_s_max,
        "withheld": list(withheld),
        "disk_full": build.DISK_FULL,
    }


def _key(component: Component, python: str, settings: LocalSettings) -> str:
    """Return the name shared by equal lists on the same Python from the same source. An upgraded Python is another."""
    real = os.path.realpath(python)
    found = Path(real).stat()
    facts = (
        _FORMAT,
        component.requirements,
        component.build_requirements,
        (python, real, found.st_size, found.st_mtime_ns),
        (settings.environment_index_url, settings.environment_wheelhouse),
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _pip(settings: LocalSettings) -> Path:
    """Return a directory with the package pip, readable for all users; copied from Zoe's own Python.

    It includes the bytecode for this version of Python: users may not write there, and otherwise each build for a
    component of the same version would compile pip, which takes longer than the build itself.
    """
    spec = importlib.util.find_spec("pip")
    if spec is None or spec.origin is None:
        raise CannotStartError(
            "no environment can be made: pip is not installed beside Zoe; ask an admin to install it"
        )
    import pip

    assert settings.environments_dir is not None
    place: Path = settings.environments_dir / f"{_PIP}-{pip.__version__}+{_TAG.replace('-', '_')}"
    if not place.is_dir():
        making = settings.environments_dir / f"{_PIP}-{os.getpid()}-{os.urandom(4).hex()}"
        try:
            _copy_readable(Path(spec.origin).parent, making)
            with suppress(OSError):  # another thread was faster
                making.rename(place)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return place


def _copy_readable(package: Path, place: Path) -> None:
    try:
        shutil.copytree(package, place / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    except shutil.Error as error:  # a list of failures, without an errno
        full = os.strerror(errno.ENOSPC) in str(error)
        raise OSError(errno.ENOSPC if full else errno.EIO, f"cannot copy {package.name} to {place.parent}") from error
    _copy_bytecode(package, place / package.name)
    for path in (place, *place.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _copy_bytecode(package: Path, copy: Path) -> None:
    """Copy the readable part: a broken cache must not keep an environment from being made."""
    for compiled in package.rglob(f"__pycache__/*.{_TAG}.pyc"):
        beside = copy / compiled.relative_to(package)
        try:
            beside.parent.mkdir(exist_ok=True)
            shutil.copy2(compiled, beside)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
