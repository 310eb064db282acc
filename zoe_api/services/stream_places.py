"""Limit the streams, WebSockets and requests to applications that one user may have open at this process.

Limits by address cannot separate users behind one address (NAT)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem

_Key = tuple[str, str]


class StreamPlaces:
    """Counts open streams and requests. Thread-safe."""

    def __init__(self, of_user_max: int, of_token_max: int, requests_of_user_max: int) -> None:
        self._lock = threading.Lock()
        self._of_user_max = of_user_max
        self._of_token_max = of_token_max
        self._requests_of_user_max = requests_of_user_max
        self._open: Counter[_Key] = Counter()

    def stream(self, user: str, opened_by: str) -> AbstractContextManager[None]:
        """Hold a place of the user and of the session or token with this id; refuse (429) if none is free.

        For a stream of events or output, or a WebSocket."""
        return self._hold_places(
            {
                ("streams of one user", user): self._of_user_max,
                ("streams of one session or token", opened_by): self._of_token_max,
            }
        )

    def request(self, user: str) -> AbstractContextManager[None]:
        """Hold a place for a request of the user to an application until its response has ended; refuse as above."""
        return self._hold_places({("requests of one user to applications", user): self._requests_of_user_max})

    @contextmanager
    def _hold_places(self, bounds: Mapping[_Key, int]) -> Iterator[None]:
        with self._lock:
            for key, most in bounds.items():
                if self._open[key] >= most:
                    raise ApiProblem(Code.TOO_MANY_STREAMS, f"the maximum of open {key[0]} is {most}")
            self._open.update(bounds.keys())
        try:
            yield
        finally:
            with self._lock:
                self._open.subtract(bounds.keys())
                self._open = +self._open
