"""MPI for local services: MPICH, mpi4py, and the programs that the framework `mpi` calls."""

from __future__ import annotations

import sys
from pathlib import Path

from zoe_embedded.home import Home, HomeError
from zoe_embedded.runtimes.install_progress import announced
from zoe_embedded.runtimes.interpreters import ANY, RuntimeBuildError, find_python
from zoe_embedded.runtimes.runtime import CLONE, Runtime, install_program, make_virtual_environment
from zoe_embedded.runtimes.store import Recipe, present, provide

SIZE_MB = 120
_LOCK = CLONE / "requirements" / "mpi.lock"
_PROGRAMS = Path(__file__).parent / "mpi_programs"


def ensure_mpi(home: Home) -> Runtime:
    """Return the runtime of MPI, building it if it is missing. Raises RuntimeBuildError with the reason."""
    return _describe(provide(home, _recipe()))


def hold_mpi(home: Home) -> bool:
    """Return whether the runtime is there, and keep it. Raises PythonMissingError if no Python fits."""
    return present(home, _recipe()) is not None


def _recipe() -> Recipe:
    python = find_python(ANY, "MPI")
    programs = sorted(path for path in _PROGRAMS.iterdir() if path.is_file())

    def build(directory: Path) -> None:
        with announced("MPICH and mpi4py", SIZE_MB, directory):
            make_virtual_environment(directory, python, _LOCK)
            for path in programs:
                install_program(path, directory)

    return Recipe("mpi", (_LOCK.read_bytes(), str(python).encode(), *(path.read_bytes() for path in programs)), build)


def _describe(directory: Path) -> Runtime:
    return Runtime(path=(str(directory / "bin"), "/usr/bin", "/bin"), environment={"PYTHONDONTWRITEBYTECODE": "1"})


def main() -> int:
    """Build the runtime for the default home."""
    try:
        ensure_mpi(Home.find(CLONE).create())
    except (RuntimeBuildError, HomeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
