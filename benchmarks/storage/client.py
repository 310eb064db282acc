"""Clients in separate processes, and their transfers over time."""

from __future__ import annotations

import bisect
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tests.support.object_store import Person

STREAMS = 10
OBJECT_BYTES = 10 * 10**6
CONTAINER = "bench"


class Client:
    """Streams of one tenant, from `__enter__` to `__exit__` or `stop`. url: of its account, at another proxy. sizes: of
    the objects of its streams, in turn.
    """

    def __init__(
        self,
        person: Person,
        direction: str,
        url: str | None = None,
        streams: int = STREAMS,
        sizes: Sequence[int] = (OBJECT_BYTES,),
    ) -> None:
        place, token = f"{url or person.account_url}/{CONTAINER}", str(person.http.headers["X-Auth-Token"])
        self._command = [direction, place, token, str(streams), ",".join(map(str, sizes))]
        self._times: list[float] = []
        self._totals: list[int] = []

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "benchmarks.storage.streams", *self._command]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop all streams at once."""
        self._process.terminate()
        self._process.wait()
        self._listener.join()

    def rate(self, start_s: float, end_s: float) -> float:
        """Return bytes per second between two times of the monotonic clock."""
        return (self._total(end_s) - self._total(start_s)) / (end_s - start_s)

    def _total(self, at_s: float) -> float:
        place = bisect.bisect_left(self._times, at_s)
        if place == 0:
            return 0.0
        if place == len(self._times):
            return float(self._totals[-1])
        share = (at_s - self._times[place - 1]) / (self._times[place] - self._times[place - 1])
        return self._totals[place - 1] + share * (self._totals[place] - self._totals[place - 1])

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            at_s, total = line.split()
            self._totals.append(int(total))
            self._times.append(float(at_s))


def prepare(person: Person, *contents: bytes) -> None:
    """Create the objects to read, one for each stream, with these contents in turn."""
    person.put(CONTAINER)
    for number in range(STREAMS):
        person.put(f"{CONTAINER}/{number}", contents[number % len(contents)])
