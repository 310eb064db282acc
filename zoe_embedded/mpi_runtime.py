"""MPI for local services: MPICH, mpi4py, and the programs that the framework `mpi` calls."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.interpreters import ANY, RuntimeBuildError, find_python
from zoe_embedded.runtime import (
    CLONE,
    Runtime,
    building,
    install_program,
    make_readable,
    make_virtual_environment,
)

_LOCK = CLONE / "requirements" / "mpi.lock"
_PROGRAMS = Path(__file__).parent / "mpi"
_STAMP = "zoe.stamp"


def ensure_mpi(home: Home) -> Runtime:
    """Return the runtime of MPI, building it if it is missing or has changed. RuntimeBuildError says why it cannot."""
    directory, python = home.runtime / "mpi", find_python(ANY, "MPI")
    programs = sorted(path for path in _PROGRAMS.iterdir() if path.is_file())
    parts = (_LOCK.read_bytes(), str(python).encode(), *(path.read_bytes() for path in programs))
    wanted = hashlib.sha256(b"\0".join(parts)).hexdigest()
    with building(home):
        stamp = directory / _STAMP
        if not stamp.exists() or stamp.read_text() != wanted:
            make_virtual_environment(directory, python, _LOCK)
            for path in programs:
                install_program(path, directory)
            make_readable(directory)
            stamp.write_text(wanted)
    return _describe(directory)


def present_mpi(home: Home) -> Runtime | None:
    """Return the runtime if it was built."""
    directory = home.runtime / "mpi"
    return _describe(directory) if (directory / _STAMP).exists() else None


def _describe(directory: Path) -> Runtime:
    return Runtime(path=(str(directory / "bin"), "/usr/bin", "/bin"), environment={"PYTHONDONTWRITEBYTECODE": "1"})


def main() -> int:
    """Build the runtime in the default home."""
    try:
        ensure_mpi(Home.find(CLONE).create())
    except RuntimeBuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
