"""Programs from wheels, pinned by hash, each in a separate environment."""

from __future__ import annotations

from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.runtimes.install_progress import announced
from zoe_embedded.runtimes.interpreters import ANY, find_python
from zoe_embedded.runtimes.runtime import CLONE, make_virtual_environment
from zoe_embedded.runtimes.store import Recipe, provide

_PROGRAM_MB = 180


def ensure_program(home: Home, lock: str, program: str) -> Path:
    """Return a program of `requirements/<lock>.lock`, installed if it is missing."""
    file, python = CLONE / "requirements" / f"{lock}.lock", find_python(ANY, lock)

    def build(directory: Path) -> None:
        with announced(f"{lock} for the object store", _PROGRAM_MB, directory):
            make_virtual_environment(directory, python, file)

    return provide(home, Recipe(lock, (str(python).encode(), file.read_bytes()), build)) / "bin" / program
