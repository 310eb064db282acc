"""Connections to the Docker Engines: one per thread, since the client is not thread-safe."""

from __future__ import annotations

import threading
from pathlib import Path

from docker.tls import TLSConfig

from zoe_master.backends.engine.daemon.dialects import EngineClient

API_VERSION = "1.41"
"""Docker Engine 20.10 supports it, and so do all later ones."""


class Engine:
    """The API of one engine."""

    def __init__(self, url: str, tls_dir: Path | None, timeout_s: float) -> None:
        self.url = url
        self._timeout_s = timeout_s
        self._tls = _tls(tls_dir) if tls_dir is not None and url.startswith("tcp://") else None
        self._own = threading.local()
        self._lock = threading.Lock()
        self._made: list[EngineClient] = []

    @property
    def api(self) -> EngineClient:
        """Return the calling thread's client."""
        found: EngineClient | None = getattr(self._own, "api", None)
        if found is None:
            found = self._own.api = self.new_client()
            with self._lock:
                self._made.append(found)
        return found

    def new_client(self) -> EngineClient:
        """Return another client, which its user closes."""
        made = EngineClient(self.url, version=API_VERSION, timeout=round(self._timeout_s), tls=self._tls or False)
        made.trust_env = False  # neither another CA nor a proxy from the environment
        return made

    def close(self) -> None:
        """Close the connections of all threads, which must no longer use them."""
        with self._lock:
            for api in self._made:
                api.close()


def _tls(directory: Path) -> TLSConfig:
    return TLSConfig(
        client_cert=(str(directory / "cert.pem"), str(directory / "key.pem")),
        ca_cert=str(directory / "ca.pem"),
        verify=True,
    )
