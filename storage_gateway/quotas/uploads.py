"""Bookings of an upload in all quotas that apply to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import random
from typing import Any

from eventlet import sleep, spawn_after
from eventlet.semaphore import Semaphore
from swift.common.exceptions import ChunkReadError, MemcacheConnectionError

from storage_gateway.quotas.quota_use import NOTHING, WINDOW_S, Amount, Ledger, window_at

_STEP_BYTES = 1 << 20
"""Bytes that an upload without a length books ahead, if they fit."""
_TRIES, _PAUSE_S = 6, 0.05
_RENEW_S = WINDOW_S / 3
"""After a late or failed renewal, two more are possible before the booking expires."""

Fits = Callable[[Sequence[Amount]], bool]
"""Whether all uploads in flight fit, from the sums of all ledgers. Raises Uncountable."""


class Upload:
    """One upload with its bookings. A separate thread renews them while it lasts."""

    def __init__(self, ledgers: Sequence[Ledger], fits: Fits) -> None:
        self._ledgers, self._fits = ledgers, fits
        self._taken, self._window = NOTHING, window_at()
        self._ahead_bytes = 0
        self.exceeded = False
        self._telling = Semaphore()
        self._renewal: Any = spawn_after(_RENEW_S, self._renew)

    def take(self, amount: Amount) -> bool:
        """Book more if it fits everywhere, and return whether it does. Raises Uncountable. Other uploads may fail, so
        this is retried while there are some.
        """
        for number in range(_TRIES):
            with self._telling:
                self._taken += amount
                on_way = [ledger.take(amount, self._window) for ledger in self._ledgers]
                wanted = self._taken
            if self._fits(on_way):
                self.exceeded = False
                return True
            self._give_back(amount)
            if all(amount == wanted for amount in on_way):
                break
            sleep(_PAUSE_S * (number + random()))
        self.exceeded = True
        return False

    def read(self, size: int) -> bool:
        """Book the bytes just read, if they were not booked ahead, and return whether they fit everywhere. Raises
        Uncountable.
        """
        lacking = size - self._ahead_bytes
        if lacking <= 0:
            self._ahead_bytes -= size
            return True
        self._ahead_bytes = 0
        if self.take(Amount(lacking + _STEP_BYTES, 0)):
            self._ahead_bytes = _STEP_BYTES
            return True
        return self.take(Amount(lacking, 0))

    def end(self, stored: bool) -> None:
        """Record whether the object was stored."""
        self._renewal.cancel()
        self._give_back(Amount(self._ahead_bytes, 0))
        with self._telling:
            taken, self._taken = self._taken, NOTHING
            for ledger in self._ledgers:
                (ledger.finish if stored else ledger.give_back)(taken, self._window)

    def _give_back(self, amount: Amount) -> None:
        with self._telling:
            self._taken += Amount(-amount.size, -amount.objects)
            for ledger in self._ledgers:
                ledger.give_back(amount, self._window)

    def _renew(self) -> None:
        self._renewal = spawn_after(_RENEW_S, self._renew)
        with self._telling:
            now = window_at()
            if now == self._window or self._taken == NOTHING:
                return
            try:
                for ledger in self._ledgers:
                    ledger.move(self._taken, self._window, now)
            except MemcacheConnectionError:
                return  # the next attempt books anew: present bookings count twice for a while
            self._window = now


class MeteredBody:
    """A body without a length: books more while it arrives. Raises ChunkReadError if it does not fit."""

    def __init__(self, source: Any, upload: Upload) -> None:
        self._source, self._upload = source, upload

    def read(self, *size: int) -> bytes:
        """Return the next bytes."""
        return self._book(bytes(self._source.read(*size)))

    def readline(self, *size: int) -> bytes:
        """Return the next line."""
        return self._book(bytes(self._source.readline(*size)))

    def _book(self, piece: bytes) -> bytes:
        if piece and not self._upload.read(len(piece)):
            raise ChunkReadError("more than a quota allows")
        return piece
