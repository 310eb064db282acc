"""Conditions of requests on the state of an object. Pure. https://www.rfc-editor.org/rfc/rfc9110#section-13"""

from __future__ import annotations

import calendar
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

S3_ETAG = "X-Object-Sysmeta-S3api-Etag"
"""The ETag of S3 for an object of parts, as `s3api` keeps it."""
_LARGE = "X-Static-Large-Object"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a PUT or DELETE. Values of headers; empty: no condition."""

    if_match: str = ""
    if_none_match: str = ""
    size: str = ""
    modified: str = ""

    def __bool__(self) -> bool:
        return any((self.if_match, self.if_none_match, self.size, self.modified))

    def are_met(self, headers: Mapping[str, str]) -> bool:
        """Return whether an existing object with these headers meets them."""
        etags = etags_of(headers)
        return not (
            (self.if_match and not matches(self.if_match, etags))
            or (self.if_none_match and matches(self.if_none_match, etags))
            or (self.size and self.size.strip() != headers.get("Content-Length"))
            or (self.modified and seconds_of(self.modified) != seconds_of(headers.get("Last-Modified", "")))
        )


def etags_of(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the ETags by which clients of Swift and S3 know an object, without quotes."""
    etag = headers.get("Etag", "").strip('"')
    known = {etag, headers.get(S3_ETAG, "").strip('"'), *([f"{etag}-N"] if _LARGE in headers else ())}
    return frozenset(known - {"", "-N"})


def matches(condition: str, etags: frozenset[str]) -> bool:
    """Return whether `*`, or a list of ETags with or without quotes, names an existing object."""
    wanted = {text.strip().removeprefix("W/").strip('"') for text in condition.split(",")}
    return "*" in wanted or bool(wanted & etags)


def fits_range(condition: str, headers: Mapping[str, str]) -> bool:
    """Return whether a range may be sent under an `If-Range`: an ETag, or the exact date of the last change."""
    condition = condition.strip()
    if condition.startswith("W/"):
        return False
    if (date := seconds_of(condition)) is not None:
        return date == seconds_of(headers.get("Last-Modified", ""))
    return condition.strip('"') in etags_of(headers)


def seconds_of(date: str) -> int | None:
    """Return a date of HTTP, or one as in 2026-01-31T12:00:00Z, in seconds since 1970; None for any other text."""
    try:
        return int(parsedate_to_datetime(date).timestamp())
    except ValueError:
        pass
    try:
        return calendar.timegm(time.strptime(date.partition(".")[0].rstrip("Z"), "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None
