"""Pages of a store, and selections of sorted names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.s3.listings import ListingRequest, select
from storage_gateway.s3.pages import Item, UnreadableListingError, key_of, page_of

PAGE = b"""<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>
<Contents><Key>b%2Bc+d</Key><LastModified>2026-01-31T12:00:00.000Z</LastModified><ETag>&quot;abc&quot;</ETag>
<Size>3</Size></Contents><CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></ListBucketResult>"""

names = st.lists(st.text("ab/-", min_size=1, max_size=5), max_size=12, unique=True)
short = st.text("ab/-", max_size=3)


def test_a_page_is_read() -> None:
    page = page_of(PAGE)
    assert page.items == (Item("a/"), Item("b+c d", "abc", 3, "2026-01-31T12:00:00.000"))
    assert page.following == "b+c d"
    plain = page_of(PAGE.replace(b"<EncodingType>url</EncodingType>", b"").replace(b"true", b"false"))
    assert ([item.name for item in plain.items], plain.following) == (["a/", "b%2Bc+d"], None)


@pytest.mark.parametrize("body", [b"", b"<a>", b"<!DOCTYPE x><a/>", PAGE.replace(b">3<", b">x<")])
def test_unreadable_page_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableListingError):
        page_of(body)


@given(found=names, prefix=short, delimiter=st.sampled_from(["", "/", "a"]), marker=short, end=short,
       limit=st.integers(0, 5), reverse=st.booleans())  # fmt: skip
def test_pages_of_a_client_are_the_whole(
    found: list[str], prefix: str, delimiter: str, marker: str, end: str, limit: int, reverse: bool
) -> None:
    items = [Item(name, modified="x") for name in sorted(found, key=key_of, reverse=reverse)]
    whole = [item.name for item in select(items, ListingRequest(prefix, delimiter, reverse=reverse))]
    assert whole == list(
        dict.fromkeys(shown(name, prefix, delimiter) for name in (i.name for i in items) if name.startswith(prefix))
    )
    pages: list[str] = []
    last = ""
    for _ in range(len(whole) + 1):
        page = [
            item.name
            for item in select(items, ListingRequest(prefix, delimiter, last, limit=max(limit, 1), reverse=reverse))
        ]
        if not page:
            break
        pages += page
        last = page[-1]
    assert pages == whole
    plain = [item.name for item in select(items, ListingRequest(prefix, "", marker, end, limit, reverse))]
    between = [n for n in (i.name for i in items) if n.startswith(prefix) and inside(n, marker, end, reverse)]
    assert plain == between[:limit]


def shown(name: str, prefix: str, delimiter: str) -> str:
    at = name.find(delimiter, len(prefix)) if delimiter else -1
    return name if at < 0 else name[: at + len(delimiter)]


def inside(name: str, marker: str, end: str, reverse: bool) -> bool:
    if reverse:
        return (not marker or name < marker) and (not end or name > end)
    return (not marker or name > marker) and (not end or name < end)
