"""The server and the token of a client that names none: as the command line finds them."""

from __future__ import annotations

import os
from pathlib import Path

from zoe_client.contexts import ContextError, with_context

DEFAULT_URL = "http://127.0.0.1:5100"
_SIGNED_OUT = "there is no token: `zoe login URL` keeps one; or set ZOE_TOKEN_FILE to a file with a token"
_SIGNED_OUT_IN_SERVICE = (
    'this service has no token for Zoe: give its component `"api": "jobs"` in the description, '
    "or set ZOE_URL and ZOE_TOKEN_FILE"
)


def chosen_server(url: str | None, token: str | None) -> tuple[str, str]:
    """Return address and token: the given ones, else those of ZOE_URL, ZOE_TOKEN and ZOE_TOKEN_FILE, of the service in
    which this runs (`api: jobs`), or of a context of `zoe login`: the one that ZOE_CONTEXT names, or the one in use.
    ContextError without a token.

    A token goes to its own server only: that of ZOE_TOKEN to ZOE_URL, if that is set.
    """
    named = _without_slash(os.environ.get("ZOE_URL"))
    url = _without_slash(url)
    if token is None and (url is None or named in (None, url)):
        token = os.environ.get("ZOE_TOKEN") or _read(os.environ.get("ZOE_TOKEN_FILE"))
    url = url or named
    if token is None and (own := own_service(url)) is not None:
        url, token = own
    url, token = with_context(url, token, os.environ.get("ZOE_CONTEXT") or None)
    if token is None:
        raise ContextError(_SIGNED_OUT_IN_SERVICE if "ZOE_EXECUTION_ID" in os.environ else _SIGNED_OUT)
    return url or DEFAULT_URL, token


def checked_address(url: str) -> str:
    """Return an address without a final slash; ValueError if it is none."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{url!r} is not an address such as {DEFAULT_URL}: it begins with http:// or https://")
    return url.rstrip("/")


def own_service(url: str | None) -> tuple[str, str] | None:
    """Return address and token of the service in which this runs, unless another address is named; None elsewhere."""
    own = _without_slash(os.environ.get("ZOE_API_URL"))
    if own is None or url not in (None, own):
        return None
    token = _read(os.environ.get("ZOE_API_TOKEN_FILE"))
    return None if token is None else (own, token)


def without_password(url: str) -> str:
    """Return an address without the user and password that it may have."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def _without_slash(url: str | None) -> str | None:
    return url.rstrip("/") if url else None


def _read(path: str | None) -> str | None:
    if not path:
        return None
    try:
        return Path(path).read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise ContextError(f"cannot read the token in {path}: {error}") from None
