"""The environment of the object store's servers, separate from Zoe's own: Swift, its clients and Zoe's filters."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.interpreters import ANY, find_python
from zoe_embedded.runtime import CLONE, building, make_readable, make_virtual_environment

_LOCK = CLONE / "requirements" / "swift.lock"
# The parts of Zoe that the servers need: installed into their environment, as an operator would do.
_FILTERS = {
    "storage_filters": (".",),
    "storage_gateway": (".",),
    "storage_bridge": ("__init__.py", "model.py", "swift"),
    "zoe_lib": ("__init__.py", "predicate.py", "column_types.py"),
}


def ensure_swift(home: Home) -> Path:
    """Return the directory with Swift's programs and Zoe's filters, building it if it is missing or its lock has
    changed.

    An existing one stays as it is: another process of this home may be running from it.
    """
    directory = home.runtime / "swift"
    stamp, filters_stamp = directory / "zoe.stamp", directory / "zoe-filters.stamp"
    python = find_python(ANY, "Swift")
    digest = hashlib.sha256(str(python).encode() + _LOCK.read_bytes()).hexdigest()
    wanted_filters = _fingerprint_of_filters()
    with building(home):
        if not stamp.exists() or stamp.read_text() != digest:
            print("[storage: installing OpenStack Swift into its own environment]", flush=True)
            make_virtual_environment(directory, python, _LOCK)
            make_readable(directory)
            stamp.write_text(digest)
        if not filters_stamp.exists() or filters_stamp.read_text() != wanted_filters:
            _install_filters(directory)
            make_readable(directory)
            filters_stamp.write_text(wanted_filters)
    return directory


def _sources_of_filters() -> Iterator[Path]:
    for package, names in _FILTERS.items():
        for name in names:
            source = CLONE / package / name
            yield from sorted(source.rglob("*.py")) if source.is_dir() else [source]


def _fingerprint_of_filters() -> str:
    digest = hashlib.sha256()
    for source in _sources_of_filters():
        digest.update(f"{source.relative_to(CLONE)}\n".encode() + source.read_bytes())
    return digest.hexdigest()


def _install_filters(directory: Path) -> None:
    packages = next(directory.glob("lib/python3*/site-packages"))
    for package in _FILTERS:
        shutil.rmtree(packages / package, ignore_errors=True)
    for source in _sources_of_filters():
        target = packages / source.relative_to(CLONE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
