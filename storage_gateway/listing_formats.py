"""Pass JSON listings on without conversion by middleware.

    [pipeline:main]
    pipeline = ... cache zoe_listings listing_formats ... slo dlo ... proxy-server
    [filter:zoe_listings]
    paste.filter_factory = storage_gateway.listing_formats:filter_factory

Swift's middleware parses each listing and writes it anew, `listing_formats` for the client's format and `slo` for the
hashes of large objects: for 10,000 names that takes longer than the listing itself. If neither has anything to change,
the gateway gives its listings a content type that they skip, and this filter restores it. Without the filter, the
result is the same, but slower.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from swift.common.http import is_success
from swift.common.middleware.listing_formats import get_listing_content_type
from swift.common.swob import HTTPException, Request, Response

_WANTED = "zoe.listing_in_json"
_AS_IT_IS = "application/vnd.zoe.listing"
_JSON = "application/json; charset=utf-8"
_PATH = re.compile("/v1(?:\\.0)?/[^/]+/[^/]+/?")
_PARAMETER = re.compile(rb'"hash": ?"[^";]*;')
_RESERVED = (b"\x00", rb"\u0000")
"""Beginning of the names of middleware's own containers and objects."""


class ListingFilter:
    """The WSGI filter."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Pass a request and its answer on; restore the content type that only this filter knows."""
        if environ["REQUEST_METHOD"] != "GET" or not _PATH.fullmatch(environ["PATH_INFO"]) or not _in_json(environ):
            passed: Iterable[bytes] = self.app(environ, start_response)
            return passed
        environ[_WANTED] = environ["PATH_INFO"]

        def start(status: str, headers: Iterable[tuple[str, str]], *rest: Any) -> Any:
            put_right = [(name, _JSON if value == _AS_IT_IS else value) for name, value in headers]
            return start_response(status, put_right, *rest)

        answered: Iterable[bytes] = self.app(environ, start)
        return answered


def pass_through(req: Request, made: Response, listing: bytes) -> None:
    """Make middleware skip an answer if the client wants JSON, and if it contains nothing for middleware."""
    wanted = req.environ.get(_WANTED) == req.environ["PATH_INFO"] and is_success(made.status_int)
    if not wanted or any(data in listing for data in _RESERVED) or _PARAMETER.search(listing):
        return
    made.charset = None
    made.content_type = _AS_IT_IS


def _in_json(environ: dict[str, Any]) -> bool:
    try:
        return bool(get_listing_content_type(Request(environ)) == "application/json")
    except HTTPException:
        return False  # middleware reports the error


def filter_factory(_: Mapping[str, str], **__: str) -> Callable[[Any], ListingFilter]:
    """Return the factory of the filter, for paste."""
    return ListingFilter
