"""Certificates that HTTP clients trust."""

from __future__ import annotations

import ssl


def verification(url: str) -> ssl.SSLContext | bool:
    """Return httpx's `verify` for a server: its own list of authorities, or for plain HTTP a context that trusts none.

    Reading the list takes 25 ms of CPU, which a client that never speaks TLS need not spend.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if url.lower().startswith("http://") else True
