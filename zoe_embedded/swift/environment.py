"""The environment of the object store's servers, apart from Zoe's own: Swift, its clients and our filters."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.runtime import CLONE, make_readable, make_virtual_environment, shared_python

_LOCK = CLONE / "requirements" / "swift.lock"
# What the servers need of ours: installed into their environment, as an operator would.
_FILTERS = {
    "storage_bridge": ("__init__.py", "model.py", "swift"),
    "zoe_lib": ("__init__.py", "predicate.py", "column_types.py"),
}


def ensure_swift(home: Home) -> Path:
    """The directory with Swift's programs, built when it is not there or its lock has changed; with our filters."""
    directory = home.runtime / "swift"
    stamp = directory / "zoe.stamp"
    python = shared_python()
    wanted = hashlib.sha256(str(python).encode() + _LOCK.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print("[storage: OpenStack Swift into an environment of its own]", flush=True)
        make_virtual_environment(directory, python, _LOCK)
        stamp.write_text(wanted)
    _install_filters(directory)
    make_readable(directory)
    return directory


def _install_filters(directory: Path) -> None:
    packages = next(directory.glob("lib/python3*/site-packages"))
    for package, names in _FILTERS.items():
        shutil.rmtree(packages / package, ignore_errors=True)
        (packages / package).mkdir()
        for name in names:
            source, target = CLONE / package / name, packages / package / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
