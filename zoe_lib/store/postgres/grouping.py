"""Group commit: calls that arrive during a write are written together next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from zoe_lib.store.errors import StoreUnavailable

T = TypeVar("T")

# Limits a statement. More would gain little, since this many already share the commit.
GROUP_MAX = 64


@dataclass(slots=True)
class _Call(Generic[T]):
    item: T
    done: bool = False
    error: Exception | None = None


class Grouping(Generic[T]):
    """Writes items of many threads with few commits: commits wait for the disk one by one, but items need not.

    `write` takes items with different `key`s only. An item that cannot be written fails alone.
    """

    def __init__(self, write: Callable[[Sequence[T]], None], key: Callable[[T], object]) -> None:
        self._write = write
        self._key = key
        self._waiting: list[_Call[T]] = []
        self._lock = Lock()
        self._writer = Lock()

    def do(self, item: T) -> None:
        """Write the item, alone or with others; raise the exception of its write."""
        call = _Call(item)
        with self._lock:
            self._waiting.append(call)
        while not call.done:
            with self._writer:
                if not call.done:
                    self._write_group(self._take())
        if call.error is not None:
            raise call.error

    def _take(self) -> list[_Call[T]]:
        with self._lock:
            group: dict[object, _Call[T]] = {}
            for call in self._waiting:
                if len(group) < GROUP_MAX:
                    group.setdefault(self._key(call.item), call)
            taken = list(group.values())
            self._waiting = [call for call in self._waiting if call is not group.get(self._key(call.item))]
            return taken

    def _write_group(self, group: list[_Call[T]]) -> None:
        # the other threads' exception after a Ctrl-C
        error: Exception | None = StoreUnavailable("the write was interrupted")
        try:
            self._write([call.item for call in group])
            error = None
        except Exception as raised:
            error = raised
        finally:
            if len(group) == 1 or error is None or isinstance(error, StoreUnavailable):
                for call in group:
                    call.error, call.done = error, True
            else:
                for call in group:
                    self._write_group([call])
