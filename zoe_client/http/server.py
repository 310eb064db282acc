"""The server and the token of a client that names none: as the command line finds them."""

from __future__ import annotations

import os
from pathlib import Path

from zoe_client.contexts import ContextError, with_context

DEFAULT_URL = "http://127.0.0.1:5100"


def chosen_server(url: str | None, token: str | None) -> tuple[str, str]:
    """Return address and token: the given ones, else those of ZOE_URL, ZOE_TOKEN and ZOE_TOKEN_FILE, of the service in
    which this runs (`api: jobs`), or of the context of `zoe login`. ContextError without a token.

    A token goes to its own server only: that of ZOE_TOKEN to ZOE_URL, if that is set.
    """
    named = os.environ.get("ZOE_URL")
    if token is None and (url is None or named in (None, url)):
        token = os.environ.get("ZOE_TOKEN") or _read(os.environ.get("ZOE_TOKEN_FILE"))
    url = url or named
    own = os.environ.get("ZOE_API_URL")
    if token is None and own is not None and url in (None, own):
        url, token = own, _read(os.environ.get("ZOE_API_TOKEN_FILE"))
    url, token = with_context(url, token)
    if token is None:
        why = "there is no token: `zoe login URL` keeps one; or set ZOE_TOKEN_FILE to a file with a token"
        raise ContextError(why)
    return url or DEFAULT_URL, token


def _read(path: str | None) -> str | None:
    if not path:
        return None
    try:
        return Path(path).read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise ContextError(f"cannot read the token in {path}: {error}") from None
