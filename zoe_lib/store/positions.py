"""The position of a request's own writes: the newest journal id that its transactions committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Written:
    """`newest` is the newest committed id, 0 for none. Threads that continue a request share it."""

    newest: int = 0
    _open: int = 0

    def begin(self) -> None:
        """Forget ids of a transaction that was rolled back: the journal will never have them."""
        self._open = 0

    def note(self, journal_id: int) -> None:
        """Record an id that the present transaction wrote."""
        self._open = max(self._open, journal_id)

    def commit(self) -> None:
        """Take over the ids of the present transaction."""
        self.newest, self._open = max(self.newest, self._open), 0


_WRITTEN: ContextVar[Written | None] = ContextVar("zoe_written", default=None)


@contextmanager
def collect() -> Iterator[Written]:
    """Collect the journal ids that are written inside the block, also by threads with a copy of this context."""
    written = Written()
    before = _WRITTEN.set(written)
    try:
        yield written
    finally:
        _WRITTEN.reset(before)


def begin() -> None:
    """Begin a transaction."""
    if (written := _WRITTEN.get()) is not None:
        written.begin()


def note(journal_id: int | None) -> None:
    """Record a journal id that the present transaction wrote."""
    if journal_id is not None and (written := _WRITTEN.get()) is not None:
        written.note(journal_id)


def commit() -> None:
    """Record that the present transaction was committed."""
    if (written := _WRITTEN.get()) is not None:
        written.commit()


def is_collecting() -> bool:
    """Return whether ids are being collected, for callers that need a statement to find one."""
    return _WRITTEN.get() is not None
