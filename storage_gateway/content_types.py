"""What listings shall say of an object, kept in parameters of its content type. Pure.

Middleware says by `swift_bytes` in the content type how long a large object is, and by
`X-Object-Sysmeta-Container-Update-Override-*` what else the listing of its container shall say. A store behind a
gateway makes its own listings, and refuses `swift_` parameters. But it lists the content type as it came, so these go
along under names of the gateway, and are put right in each listing:

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
"""The name of an entry's key, which only the count of quotas is told."""


def to_store(content_type: str, headers: Mapping[str, str]) -> str:
    """Return the content type as the store keeps it; `headers`: what middleware says of the listing."""
    kept = [(name, value) for mark, name, value in _PARAMETER.findall(content_type) if mark == "swift_"]
    for name in _OVERRIDDEN:
        value = next((value for header, value in headers.items() if header.lower() == OVERRIDE + name), "")
        if value:
            kept.append((f"over_{name}", quote(value, safe="", encoding="latin-1")))
    return _PARAMETER.sub("", content_type) + "".join(f";{_OURS}{name}={value}" for name, value in kept)


def from_store(content_type: str) -> str:
    """Return the content type of an object as Swift's own servers would have kept it."""
    if _OURS not in content_type:
        return content_type
    plain, kept = _split(content_type)
    return plain + "".join(f";swift_{name}={value}" for name, value in kept.items() if not name.startswith("over_"))


def carried(before: str, after: str) -> str:
    """Return a new content type of a client's with what the former one, as the store keeps it, says of listings."""
    _, kept = _split(before)
    return _PARAMETER.sub("", after) + "".join(f";{_OURS}{name}={value}" for name, value in kept.items())


def listing_from_store(body: bytes, keys: bool = False) -> bytes:
    """Return a listing in JSON with what its objects' content types say of them; as it is if none says anything, or if
    it is no listing. Times are written as Swift does: Ceph puts a Z behind them. keys: with those that wrote them.
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
    return json.dumps([_entry(one, keys) for one in entries]).encode("ascii")


def _entry(entry: Any, keys: bool) -> Any:
    if not isinstance(entry, dict) or _OURS not in str(entry.get("content_type", "")):
        return entry
    plain, kept = _split(entry["content_type"])
    changed: dict[str, Any] = {"content_type": plain}
    if "over_etag" in kept:
        changed["hash"] = unquote(kept["over_etag"], encoding="latin-1")
    if keys and "over_key" in kept:
        changed[KEY] = unquote(kept["over_key"], encoding="latin-1")
    # In Swift, too, what the content type says goes before what middleware says otherwise.
    size = kept.get("bytes", kept.get("over_size", ""))
    if size.isascii() and size.isdecimal():
        changed["bytes"] = int(size)
    return {**entry, **changed}


def _split(content_type: str) -> tuple[str, dict[str, str]]:
    kept = {name: value for mark, name, value in _PARAMETER.findall(content_type) if mark == _OURS}
    return _PARAMETER.sub("", content_type), kept
