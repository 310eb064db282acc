"""Read the files that a container left in its scratch directory from its engine, before the container is removed."""

from __future__ import annotations

import tarfile
from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Any

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.engine.errors import UNREACHABLE
from zoe_master.backends.engine.spec.template_values import SCRATCH
from zoe_master.backends.local.supervisor.left_files import LOOKS_MAX, OWN, largest, printable_name
from zoe_master.backends.services.left_words import describe_left_files

BYTES_MAX = 16 * 2**20
"""Limit of the archive, which contains file contents: a service's end must not wait for a tree of gigabytes."""
WITHIN_S = 3.0
_PIECE_BYTES = 64 * 1024


class _EnoughError(Exception):
    """The limit of reading is reached."""


def read_left_files(
    api: Any, container_id: str, mounts: Collection[str] = (SCRATCH,), clock: Clock = SYSTEM_CLOCK
) -> str:
    """Return names and sizes of the largest entries of an ended container's scratch directory as text; empty without
    any, and if the engine does not answer. Hidden names and Zoe's own directories are left out.

    mounts: its mounts. Without one at the directory, an engine tells cheaply that nothing was written there.
    """
    try:
        if not {SCRATCH, "/"}.intersection(mounts) and not _is_changed(api, container_id):
            return ""
        pieces, _ = api.get_archive(container_id, SCRATCH, chunk_size=_PIECE_BYTES)
    except UNREACHABLE:  # it may be removed already
        return ""
    with closing(pieces):
        return describe_left_files(_list_archive(_Pieces(pieces, clock)))


def _is_changed(api: Any, container_id: str) -> bool:
    return any(entry["Path"].startswith(f"{SCRATCH}/") for entry in api.diff(container_id) or ())


class _Pieces:
    """An archive as a file that is read once, within limits of size and time."""

    def __init__(self, pieces: Iterator[bytes], clock: Clock) -> None:
        self._pieces, self._clock = pieces, clock
        self._left = b""
        self._bytes, self._until_s = 0, clock.monotonic_s() + WITHIN_S

    def read(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end; _EnoughError beyond the limits."""
        parts, length = [self._left], len(self._left)
        while length < size and (piece := next(self._pieces, b"")):
            self._bytes += len(piece)
            if self._bytes > BYTES_MAX or self._clock.monotonic_s() > self._until_s:
                raise _EnoughError
            parts.append(piece)
            length += len(piece)
        whole = b"".join(parts)
        self._left = whole[size:]
        return whole[:size]


def _list_archive(pieces: _Pieces) -> dict[str, Any] | None:
    """Return the entries of the archive, in the form of `left_files` for a directory."""
    found: dict[str, dict[str, Any]] = {}
    looks, at_least = 0, False
    try:
        with tarfile.open(fileobj=pieces, mode="r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                _add(found, member)
                looks += 1
                if looks > LOOKS_MAX:
                    raise _EnoughError
    except (_EnoughError, tarfile.TarError, *UNREACHABLE):
        at_least = True
    return largest(found.values(), at_least=at_least) if found else None


def _add(found: dict[str, dict[str, Any]], member: tarfile.TarInfo) -> None:
    _, *names = member.name.strip("/").split("/")
    if not names or names[0] in OWN or names[0].startswith("."):
        return
    entry = found.setdefault(names[0], {"name": printable_name(names[0]), "files": None, "bytes": 0})
    if member.isdir():
        entry["files"] = entry["files"] or 0
        return
    entry["bytes"] += member.size
    if len(names) > 1:
        entry["files"] = (entry["files"] or 0) + 1
