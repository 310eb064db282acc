"""Names of Zoe's cookies; over HTTPS with the prefix that lets browsers refuse what other origins set (RFC 6265bis)."""

from __future__ import annotations

_HOST_ONLY = "__Host-"
SESSION, APP, SIGN_IN = "zoe-session", "zoe-app", "zoe-sign-in"
OURS = frozenset(f"{prefix}{name}" for name in (SESSION, APP, SIGN_IN) for prefix in ("", _HOST_ONLY))


def named(name: str, secure: bool) -> str:
    """Return the cookie's name over HTTPS, or over plain HTTP, where browsers refuse the prefix."""
    return f"{_HOST_ONLY}{name}" if secure else name
