"""Request targets that a proxy may pass on: a path with a query, never an address (RFC 9112, section 3.2.1)."""

from __future__ import annotations

import re

from starlette.types import Scope

# Characters that browsers send unquoted pass unchanged. A backslash in the path is a slash to some servers only.
_PATH = re.compile(rb"/[!-~]*", re.ASCII)
_QUERY = re.compile(rb"[!-~]*", re.ASCII)
_NEVER_IN_PATHS = frozenset(b"\\#?")
_FRAGMENT = ord("#")


def origin_form(scope: Scope) -> bytes | None:
    """Return the target's bytes as the client sent them; None unless it is a path with an optional query.

    Absolute-form (`http://host/`), authority-form (`host:port`), `*`, an empty target, and invalid bytes are refused. A
    path that begins with two slashes is a path."""
    path, query = scope["raw_path"], scope["query_string"]
    if not _PATH.fullmatch(path) or not _NEVER_IN_PATHS.isdisjoint(path):
        return None
    if not _QUERY.fullmatch(query) or _FRAGMENT in query:
        return None
    return bytes(path + b"?" + query if query else path)


def same_origin(path: str) -> str:
    """Return a reference to this path on the present origin.

    Browsers read `//name` as another host, and a backslash as a slash; `/.//name` is the same path here (RFC 3986,
    section 4.2)."""
    return f"/.{path}" if path[1:2] in ("/", "\\") else path
