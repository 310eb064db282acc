"""The environment of the object store's servers, separate from Zoe's own: Swift, its clients and Zoe's filters."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.runtimes.install_progress import announced
from zoe_embedded.runtimes.interpreters import ANY, find_python
from zoe_embedded.runtimes.runtime import CLONE, make_bare_environment, make_virtual_environment
from zoe_embedded.runtimes.store import Recipe, lock_file, make_readable, provide

_LOCK = CLONE / "requirements" / "swift.lock"
_SWIFT_MB = 190
# The parts of Zoe that the servers need: installed into their environment, as an operator would do.
_FILTERS = {
    "storage_filters": (".",),
    "storage_gateway": (".",),
    "storage_bridge": ("__init__.py", "model.py"),
    "zoe_lib": ("__init__.py", "clock.py", "logs/__init__.py", "logs/few_lines.py", "pushdown"),
}


def ensure_swift(home: Home) -> Path:
    """Return the directory with Swift's programs and Zoe's filters, building it if it is missing or has changed.

    Swift itself is shared. The filters of this clone are in a small environment of the home, which finds Swift in the
    shared one. An unchanged environment stays: another process of this home may be running from it.
    """
    python = find_python(ANY, "Swift")
    swift = provide(home, _recipe(python))
    directory = home.runtime / "swift"
    stamp, filters_stamp = directory / "zoe-swift.stamp", directory / "zoe-filters.stamp"
    wanted, wanted_filters = str(swift), _fingerprint_of_filters()
    with lock_file(home.runtime / "swift.lock"):
        if not stamp.exists() or stamp.read_text() != wanted:
            _make_small_environment(directory, python, swift)
            stamp.write_text(wanted)
        if not filters_stamp.exists() or filters_stamp.read_text() != wanted_filters:
            _install_filters(directory)
            make_readable(directory)
            filters_stamp.write_text(wanted_filters)
    return directory


def _recipe(python: Path) -> Recipe:
    def build(directory: Path) -> None:
        with announced("OpenStack Swift", _SWIFT_MB, directory):
            make_virtual_environment(directory, python, _LOCK)

    return Recipe("swift", (str(python).encode(), _LOCK.read_bytes()), build)


def _make_small_environment(directory: Path, python: Path, swift: Path) -> None:
    """Make an environment whose Python finds the packages of `swift`, with its programs."""
    shutil.rmtree(directory, ignore_errors=True)
    make_bare_environment(directory, python)
    [theirs], [ours] = (list(path.glob("lib/python3*/site-packages")) for path in (swift, directory))
    (ours / "zoe-swift.pth").write_text(f"import site; site.addsitedir({str(theirs)!r})\n")
    for program in (swift / "bin").iterdir():
        if not (directory / "bin" / program.name).exists():
            (directory / "bin" / program.name).symlink_to(program)


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
