"""A page that is written as stores write it is read as by a parser of XML."""

from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.s3.pages import Item, _parsed_page, _plain_page, page_of

OWNER = "<Owner><ID>a&#34;b</ID><DisplayName></DisplayName></Owner><StorageClass>STANDARD</StorageClass>"
MODIFIED = "<LastModified>2026-01-31T12:00:00.000Z</LastModified>"
objects = st.tuples(st.text(min_size=1, max_size=6).filter(lambda name: name.isprintable()), st.integers(0, 10**12))


def written(
    found: list[tuple[str, int]], quote: str = "&quot;", more: str = "", about: str = "", last: bool = False
) -> str:
    entries = "".join(
        f"<Contents><Key>{quote_plus(name)}</Key>{'' if last else MODIFIED}"
        f"<ETag>{quote}{number:032x}{quote}</ETag><Size>{number}</Size>{OWNER}{MODIFIED if last else ''}</Contents>"
        for name, number in found
    )
    space = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult {space}><Name>b</Name><Prefix/>{about}'
        f"<EncodingType>url</EncodingType>{entries}{more}</ListBucketResult>"
    )


@given(
    found=st.lists(objects, min_size=1, max_size=5, unique_by=lambda entry: entry[0]),
    quote=st.sampled_from(["&quot;", "&#34;", '"']),
    truncated=st.booleans(),
    marker=st.sampled_from(["", "<NextMarker>a%2Bb</NextMarker>"]),
)
def test_both_readers_find_the_same(found: list[tuple[str, int]], quote: str, truncated: bool, marker: str) -> None:
    about = f"<IsTruncated>{str(truncated).lower()}</IsTruncated>{marker}"
    bodies = [written(found, quote, about=about), written(found, quote, more=about)]
    for body in (*bodies, written(found, quote, about=about, last=True)):
        plain = _plain_page(body)
        assert plain == _parsed_page(body.encode())
        assert plain is not None
        assert {(item.name, item.size) for item in plain.items} == set(found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<Key>one</Key>", "<Key>&lt;one</Key>"),
        ("<Key>one</Key>", "<Key><![CDATA[one]]></Key>"),
        ("<Key>one</Key>", "<Key>one</Key><!-- <Key>two</Key> -->"),
        ("<Size>1</Size>", ""),
        ("<Size>1</Size>", "<Size>1</Size><Size>2</Size>"),
        ("<EncodingType>url</EncodingType>", ""),
        ("<ETag>", "<ETag>&amp;"),
        ("</ListBucketResult>", "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></ListBucketResult>"),
    ],
)
def test_unusual_page_is_left_to_the_parser(before: str, after: str) -> None:
    body = written([("one", 1), ("two", 2)])
    assert _plain_page(body) is not None
    assert _plain_page(body.replace(before, after, 1)) is None


def test_names_that_are_quoted_in_xml_alone() -> None:
    body = written([("one", 1)]).replace("<EncodingType>url</EncodingType>", "").replace("<Key>one", "<Key>a&amp;b%2B")
    assert page_of(body.encode()).items == (Item("a&b%2B", f"{1:032x}", 1, "2026-01-31T12:00:00.000"),)
