"""Certificates that HTTP clients trust."""

from __future__ import annotations

import ssl


def verification(url: str) -> ssl.SSLContext | bool:
    """Return httpx's `verify` for a server: its own list of authorities or, for plain HTTP, a context that trusts none.

    Reading the list takes 25 ms of CPU, which a client that never speaks TLS need not spend.
    """
    return context_without_trust() if _plain(url) else True


def trust_of_this_machine(url: str) -> ssl.SSLContext:
    """Return the TLS context of Zoe's clients: the authorities of this machine, or of SSL_CERT_FILE; httpx's list if
    there are none. For plain HTTP it trusts none.
    """
    if _plain(url):
        return context_without_trust()
    context = ssl.create_default_context()
    if not context.get_ca_certs() and not _directory_of_authorities():
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def context_without_trust() -> ssl.SSLContext:
    """Return a context that trusts no certificate."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _plain(url: str) -> bool:
    return url.lower().startswith("http://")


def _directory_of_authorities() -> bool:
    """Return whether OpenSSL looks for authorities in a directory, which it reads only when it meets a certificate."""
    from pathlib import Path

    directory = ssl.get_default_verify_paths().capath
    return directory is not None and any(Path(directory).iterdir())
