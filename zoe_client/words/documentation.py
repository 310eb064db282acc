"""Pages of the documentation that a server has for its version, below /docs/."""

from __future__ import annotations

WAITING = "use/waiting.html"
PROMISES = "use/promises.html#offers"


def page_address(server: str, page: str = "") -> str:
    """Return the address of a page at the server of this address."""
    return f"{server.rstrip('/')}/docs/{page}"
