"""Words for failed connections, from the exceptions of any library: their own texts name hosts, pools and classes."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator

_TOO_LATE = "it did not answer in time"
_BROKEN = "the connection broke"
_DEPTH_MAX = 20


def failure_words(error: BaseException) -> str:
    """Return why a request got no answer, as the end of a sentence."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"it answered {status}"
    causes = list(_causes(error))
    for cause in causes:
        words = _words(cause)
        if words:
            return words
    return _TOO_LATE if any("timeout" in type(cause).__name__.lower() for cause in causes) else _BROKEN


def _words(cause: BaseException) -> str:
    """Return the words for an exception of the standard library; empty for others."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {cause.verify_message or 'it cannot be verified'}"
    if isinstance(cause, ssl.SSLError):
        return f"the TLS connection failed: {_reason(cause)}"
    if isinstance(cause, socket.gaierror):
        return "its name cannot be resolved"
    if isinstance(cause, TimeoutError):
        return _TOO_LATE
    if isinstance(cause, OSError) and isinstance(cause.errno, int):
        words = os.strerror(cause.errno)
        return f"{words[:1].lower()}{words[1:]}"
    return ""


def _reason(cause: ssl.SSLError) -> str:
    return (getattr(cause, "reason", None) or "no reason given").replace("_", " ").lower()


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the innermost exceptions first: libraries wrap them as causes, contexts, arguments or reasons."""
    found: list[BaseException] = []
    ahead: list[object] = [error]
    while ahead and len(found) < _DEPTH_MAX:
        cause = ahead.pop(0)
        if isinstance(cause, BaseException) and cause not in found:
            found.append(cause)
            ahead += [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]
    yield from reversed(found)
