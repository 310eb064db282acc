"""Convert headers of objects to S3's and back. Pure.

User metadata are S3's too. Values that S3 would change or drop (text that is not ASCII, several spaces, empty values,
the time at which an object expires) are stored like the gateway's own metadata (`kept_headers.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from storage_gateway.kept_headers import EMPTY, MARK, parts

_META, _S3_META = "x-object-meta-", "x-amz-meta-"
_SAME = frozenset(
    (
        "cache-control", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-type", "expires",
    )
)  # fmt: skip
_KEPT = frozenset(("x-delete-at", "x-robots-tag", "x-timestamp"))
_TOLD = _SAME | {"content-range", "last-modified"}
_REMOVE = "x-remove-"
_PLAIN = re.compile("[!-~]+( [!-~]+)*")


def to_s3(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a PUT for the store. Raises TooLong."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        short = name.lower()
        if short in _SAME or (short == "if-none-match" and value.strip() == "*"):
            found[name] = value
        elif short.startswith(_META + MARK):  # metadata of the gateway, stored like this already
            found[_s3_name(name)] = value
        elif short.startswith(_META) and not value:  # some stores drop it, and some sign it wrongly
            found[_s3_name(f"{_META}{MARK}0-{short.removeprefix('x-')}")] = EMPTY
        elif short in _KEPT or (short.startswith(_META) and not _is_plain(value)):
            found.update({_s3_name(entry): text for entry, text in parts("object", name, value)})
        elif short.startswith(_META):
            found[_s3_name(name)] = value
    return found


def from_s3(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an object as a store with Swift's protocol would have sent them."""
    found = {}
    for name, value in headers.items():
        short = name.lower()
        if short.startswith(_S3_META):
            found[_META + short.removeprefix(_S3_META)] = value
        elif short in _TOLD:
            found[name] = value
        elif short == "etag":
            found[name] = value.strip('"')
    if "Last-Modified" in headers:
        found["X-Timestamp"] = f"{seconds_of(headers['Last-Modified']):.5f}"
    return found


def seconds_of(date: str) -> float:
    """Return an HTTP date in seconds since 1970; 0 for an invalid one."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return 0.0


def changed_metadata(before: Mapping[str, str], headers: Mapping[str, str]) -> dict[str, str]:
    """Return metadata of a container or account after a change; an empty value or `X-Remove-...` removes.

    Names are in lower case.
    """
    after = dict(before)
    for name, value in headers.items():
        short = name.lower()
        if short.startswith(_REMOVE):
            after.pop("x-" + short.removeprefix(_REMOVE), None)
        elif not short.startswith(("x-container-meta-", "x-account-meta-")):
            continue
        elif value:
            after[short] = value
        else:
            after.pop(short, None)
    return after


def _s3_name(name: str) -> str:
    return _S3_META + name.lower().removeprefix(_META)


def _is_plain(value: str) -> bool:
    return bool(_PLAIN.fullmatch(value)) and "%" not in value
