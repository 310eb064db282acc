"""Entries of listings, kept in parameters of an object's content type. Pure.

Middleware reports the length of a large object by `swift_bytes` in the content type, and changes its entry in the
container's listing by `X-Object-Sysmeta-Container-Update-Override-*`. A store behind a gateway makes its own listings,
and refuses `swift_` parameters. But it lists the content type unchanged, so the gateway stores these values there under
its own names, and restores them in each listing:

    application/json;swift_bytes=2097152   ->   application/json;zoe_gateway_bytes=2097152
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

OVERRIDE = "x-object-sysmeta-container-update-override-"
_OURS = "zoe_gateway_"
_PARAMETER = re.compile(rf"\s*;\s*({_OURS}|swift_)(\w+)=(\"[^\"]*\"|[^;]*)")
_ZULU = re.compile(rb'("last_modified": ?"[-0-9T:.]{1,40})Z"')
_OVERRIDDEN = ("etag", "size", "key")
KEY = "zoe_key"
"""Name of an entry's key, for the count of quotas only."""


def to_store(content_type: str, headers: Mapping[str, str]) -> str:
    """Return the content type for the store. headers: of middleware, with changes of the entry in listings."""
    kept = [(name, value) for mark, name, value in _PARAMETER.findall(content_type) if mark == "swift_"]
    for name in _OVERRIDDEN:
        value = next((value for header, value in headers.items() if header.lower() == OVERRIDE + name), "")
        if value:
            kept.append((f"over_{name}", quote(value, safe="", encoding="latin-1")))
    return _PARAMETER.sub("", content_type) + "".join(f";{_OURS}{name}={value}" for name, value in kept)


def from_store(content_type: str) -> str:
    """Return the content type of an object as Swift's servers would keep it."""
    if _OURS not in content_type:
        return content_type
    plain, kept = _split(content_type)
    return plain + "".join(f";swift_{name}={value}" for name, value in kept.items() if not name.startswith("over_"))


def with_listing_parameters(before: str, after: str) -> str:
    """Return a client's new content type, with the listing parameters of the former one at the store."""
    _, kept = _split(before)
    return _PARAMETER.sub("", after) + "".join(f";{_OURS}{name}={value}" for name, value in kept.items())


def listing_from_store(body: bytes, keys: bool = False) -> bytes:
    """Return a JSON listing with the entries that the content types of its objects record; unchanged if there are none,
    or if it is not a listing. Times are written as in Swift: Ceph appends a Z. keys: include the keys of the writers.
    """
    body = _ZULU.sub(rb'\1"', body)
    if _OURS.encode() not in body:
        return body
    try:
        entries = json.loads(body)
    except ValueError:
        return body
    if not isinstance(entries, list):
        return body
    return json.dumps([_entry(entry, keys) for entry in entries]).encode("ascii")


def _entry(entry: Any, keys: bool) -> Any:
    if not isinstance(entry, dict) or _OURS not in str(entry.get("content_type", "")):
        return entry
    plain, kept = _split(entry["content_type"])
    changed: dict[str, Any] = {"content_type": plain}
    if "over_etag" in kept:
        changed["hash"] = unquote(kept["over_etag"], encoding="latin-1")
    if keys and "over_key" in kept:
        changed[KEY] = unquote(kept["over_key"], encoding="latin-1")
    # As in Swift, the content type takes precedence over other headers of middleware.
    size = kept.get("bytes", kept.get("over_size", ""))
    if size.isascii() and size.isdecimal():
        changed["bytes"] = int(size)
    return {**entry, **changed}


def _split(content_type: str) -> tuple[str, dict[str, str]]:
    kept = {name: value for mark, name, value in _PARAMETER.findall(content_type) if mark == _OURS}
    return _PARAMETER.sub("", content_type), kept
