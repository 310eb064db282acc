"""Find the Python for a runtime of local services, whichever Zoe itself runs on."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

Version = tuple[int, int]

VARIABLE = "ZOE_RUNTIME_PYTHON"
SPARK: tuple[Version, ...] = ((3, 11),)
"""PySpark 3.5, and NumPy 1, which it needs, do not support Python 3.13."""
ANY: tuple[Version, ...] = ((3, 11), (3, 13))
"""MPI and Swift are locked for these, and tested with the first."""
_PLACES = ("/usr/bin", "/usr/local/bin")
_ANSWERS_WITHIN_S = 30.0


class RuntimeBuildError(Exception):
    """A runtime cannot be built here; the message says why and what to do."""


class PythonMissingError(RuntimeBuildError):
    """No fitting Python is installed; the message says which, and what to do."""


def find_python(versions: Sequence[Version], what: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Return a Python of one of these versions, the earlier ones first. Raises PythonMissingError.

    If Zoe is root, components are not, so all users must be able to execute it. ZOE_RUNTIME_PYTHON names a preferred
    one, if it has such a version.
    """
    private = None
    for candidate in _candidates(versions, environment):
        if candidate.exists():
            if os.geteuid() != 0 or _open_to_all(candidate.resolve()):
                return candidate
            private = candidate
    names = python_names(versions)
    if private is not None:
        raise PythonMissingError(
            f"{what} needs {names}. {private} lies in a private directory, so components, which do not run as root, "
            f"cannot use it.\nInstall one for all users:  {_install_hint(versions)}"
        )
    raise PythonMissingError(f"{what} needs {names}, which is not installed.\nInstall it:  {_install_hint(versions)}")


def python_names(versions: Sequence[Version]) -> str:
    """Return the names of the programs, as in a sentence."""
    return " or ".join(_name(version) for version in versions)


def _candidates(versions: Sequence[Version], environment: Mapping[str, str]) -> Iterator[Path]:
    if chosen := environment.get(VARIABLE):
        path = Path(chosen).expanduser().absolute()
        if _version(path) in versions:
            yield path
    for version in versions:
        if sys.version_info[:2] == version:
            yield Path(sys.executable).resolve()
        found = shutil.which(_name(version), path=environment.get("PATH"))
        if found and _has_version(Path(found), version):
            yield Path(found)
        yield from (Path(place) / _name(version) for place in _PLACES)


def _has_version(python: Path, version: Version) -> bool:
    """Return whether this is such a Python; pyenv has a program of that name for inactive versions."""
    try:
        return _version(python) == version
    except PythonMissingError:
        return False


def _version(python: Path) -> Version:
    """Return the version of an interpreter that the user named. Raises PythonMissingError for an invalid one."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, check=True, timeout=_ANSWERS_WITHIN_S
        )
        major, minor = done.stdout.split()
        return int(major), int(minor)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise PythonMissingError(f"{VARIABLE}: {python} is not a Python: {error}") from None


def _name(version: Version) -> str:
    return f"python{version[0]}.{version[1]}"


def _install_hint(versions: Sequence[Version]) -> str:
    first = _name(versions[0])
    return (
        f"apt-get install -y {first}, where the distribution has it; elsewhere\n"
        f"  .venv/bin/uv python install --install-dir /opt/python {first.removeprefix('python')}\n"
        f"and name its bin/{first} in {VARIABLE}"
    )


def _open_to_all(path: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in [path, *path.parents])
