"""Connections to the Docker Engines: one per thread, since the client is not thread-safe."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import docker
from docker.tls import TLSConfig

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.swarm.errors import UNREACHABLE, cannot_serve

API_VERSION = "1.41"
"""Docker Engine 20.10 supports it, and so do all later ones."""
_SILENT_S = 3.0
"""Longer than managers need to elect another leader."""
_Answer = TypeVar("_Answer")


class Engine:
    """The API of one engine."""

    def __init__(self, url: str, tls_dir: Path | None, timeout_s: float) -> None:
        self.url = url
        self._timeout_s = timeout_s
        self._tls = _tls(tls_dir) if tls_dir is not None and url.startswith("tcp://") else None
        self._own = threading.local()
        self._lock = threading.Lock()
        self._made: list[docker.APIClient] = []

    @property
    def api(self) -> docker.APIClient:
        """Return the calling thread's client."""
        found: docker.APIClient | None = getattr(self._own, "api", None)
        if found is None:
            found = docker.APIClient(
                self.url, version=API_VERSION, timeout=round(self._timeout_s), tls=self._tls or False
            )
            found.trust_env = False  # neither another CA nor a proxy from the environment
            self._own.api = found
            with self._lock:
                self._made.append(found)
        return found

    def close(self) -> None:
        """Close the connections of all threads, which must no longer use them."""
        with self._lock:
            for api in self._made:
                api.close()


class Managers:
    """The managers of the swarm: requests go to one until it stops answering."""

    def __init__(self, engines: Sequence[Engine], clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._engines = engines
        self._current = 0
        self._silent_since_s: float | None = None

    @property
    def silent(self) -> bool:
        """Return whether requests have gone unanswered for longer than a single one may take."""
        since_s = self._silent_since_s
        return since_s is not None and self._clock.monotonic_s() > since_s + _SILENT_S

    def ask(self, question: Callable[[Any], _Answer]) -> _Answer:
        """Return the first answer; raise the last error if none answers. Refusals of the request itself are raised at
        once.
        """
        begun_s = self._clock.monotonic_s()
        for attempt in range(len(self._engines)):
            try:
                answer = question(self._engines[self._current].api)
                self._silent_since_s = None
                return answer
            except UNREACHABLE as error:
                if not cannot_serve(error):
                    self._silent_since_s = None
                elif self._silent_since_s is None:
                    self._silent_since_s = begun_s
                last = attempt == len(self._engines) - 1
                if last or not cannot_serve(error):
                    raise
                self._current = (self._current + 1) % len(self._engines)
        raise AssertionError("there is always a manager")

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines:
            engine.close()


def _tls(directory: Path) -> TLSConfig:
    return TLSConfig(
        client_cert=(str(directory / "cert.pem"), str(directory / "key.pem")),
        ca_cert=str(directory / "ca.pem"),
        verify=True,
    )
