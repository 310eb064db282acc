"""Programs that come in a wheel, pinned by hash, each in an environment of its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.interpreters import ANY, find_python
from zoe_embedded.runtime import CLONE, building, make_virtual_environment


def ensure_program(home: Home, lock: str, program: str) -> Path:
    """Return a program of `requirements/<lock>.lock`, installed if it is missing or that file has changed."""
    directory, file = home.runtime / lock, CLONE / "requirements" / f"{lock}.lock"
    stamp, python = directory / "zoe.stamp", find_python(ANY, lock)
    digest = hashlib.sha256(str(python).encode() + file.read_bytes()).hexdigest()
    with building(home):
        if not stamp.exists() or stamp.read_text() != digest:
            print(f"[storage: installing {lock} into an environment of its own]", flush=True)
            make_virtual_environment(directory, python, file)
            stamp.write_text(digest)
    return directory / "bin" / program
