"""Store headers of middleware as user metadata, which every store keeps. Pure.

Swift's middleware stores its data in headers that clients neither see nor set, such as `X-Object-Sysmeta-Slo-Etag`, and
a proxy stores access lists. A store behind a gateway takes only user metadata, of at most 256 bytes each, so such a
header is stored in parts. So are quotas, since some stores would enforce them in their own way.

    X-Container-Read: .r:*      X-Container-Meta-Zoe-Gateway-0-Container-Read: .r:*
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote

PART_LENGTH = 250
PARTS_MAX = 16
"""Most parts of one header; a longer one is refused."""
MARK = "zoe-gateway-"
EMPTY = "%"
"""Stands for an empty value, which a store would drop; in a value, each % is quoted."""
_SAFE = "!\"#$&'()*+,/:;<=>?@[]^`{|}~"
_KEPT = {
    "account": re.compile(r"x-account-sysmeta-.+"),
    "container": re.compile(
        r"x-container-(sysmeta-.+|meta-quota-(bytes|count)|read|write|sync-key|sync-to)|x-versions-(location|enabled)|x-history-location"
    ),
    "object": re.compile(r"x-object-((transient-)?sysmeta-.+|manifest)|x-static-large-object"),
}
_GOES_WITH_POST = re.compile(r"x-object-(transient-sysmeta-.+|manifest)")


class TooLong(ValueError):  # noqa: N818 - the name is the fact
    """A header is too long to be stored; the message names it."""


def to_store(kind: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request for the store. Raises TooLong. kind: account, container or object.

    An empty value removes a header, as in requests of users.
    """
    sent: dict[str, str] = {}
    for name, value in headers.items():
        if _is_ours(kind, name):
            continue
        if _KEPT[kind].fullmatch(name.lower()):
            sent.update(parts(kind, name, value))
        else:
            sent[name] = value
    return sent


def from_store(kind: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a response as Swift's servers would have sent them.

    The store's own values of such headers are dropped: for a large object that was put there directly, it sends the
    whole, and its access lists name its own users.
    """
    found: dict[str, str] = {}
    parts: dict[str, dict[int, str]] = {}
    for name, value in headers.items():
        if not _is_ours(kind, name):
            if not _KEPT[kind].fullmatch(name.lower()):
                found[name] = value
            continue
        number, _, kept = name.lower().removeprefix(_prefix(kind)).partition("-")
        if kept and number.isascii() and number.isdecimal():
            parts.setdefault(f"x-{kept}", {})[int(number)] = value
    for name, values in parts.items():
        text = "".join(values[number] for number in sorted(values))
        found[name.title()] = "" if text == EMPTY else unquote(text, encoding="latin-1")
    return found


def kept_after_post(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an object that stay when its metadata are replaced. headers: from `from_store`."""
    return {
        name: value
        for name, value in headers.items()
        if _KEPT["object"].fullmatch(name.lower()) and not _GOES_WITH_POST.fullmatch(name.lower())
    }


def _prefix(kind: str) -> str:
    return f"x-{kind}-meta-{MARK}"


def _is_ours(kind: str, name: str) -> bool:
    return name.lower().startswith((_prefix(kind), f"x-remove-{kind}-meta-{MARK}"))


def parts(kind: str, name: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield a header as metadata. Further parts of an earlier, longer value are removed; the metadata of an object are
    replaced completely anyway.
    """
    text = quote(value, safe=_SAFE, encoding="latin-1")
    pieces = [text[at : at + PART_LENGTH] for at in range(0, len(text), PART_LENGTH)]
    if len(pieces) > PARTS_MAX:
        raise TooLong(f"{name} is longer than {PARTS_MAX * PART_LENGTH} characters")
    short = name.lower().removeprefix("x-")
    for number, piece in enumerate(pieces):
        yield f"X-{kind}-Meta-{MARK}{number}-{short}".title(), piece
    if kind != "object":
        for number in range(len(pieces), PARTS_MAX):
            yield f"X-Remove-{kind}-Meta-{MARK}{number}-{short}".title(), "x"
