"""What listings shall say travels in the content type, through stores that list it as it came."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.content_types import OVERRIDE, from_store, listing_from_store, to_store, with_listing_parameters

ETAG = "0123; s3_etag=9; slo_etag=8"


@pytest.mark.parametrize("plain", ["text/plain", 'text/plain;charset="a;b"', "application/json; charset=utf-8"])
def test_swifts_own_parameters_come_back(plain: str) -> None:
    stored = to_store(f"{plain};swift_bytes=2097152", {})
    assert "swift_" not in stored
    assert from_store(stored) == f"{plain};swift_bytes=2097152"
    assert from_store(plain) == plain


def test_listings_say_what_middleware_wants() -> None:
    entries = [
        {"name": "large", "bytes": 2, "hash": "own", "content_type": to_store("a/b;swift_bytes=77", {})},
        {"name": "put", "bytes": 9, "hash": "own", "content_type": to_store("a/b", {OVERRIDE + "etag": ETAG})},
        {"name": "packed", "bytes": 9, "hash": "own", "content_type": to_store("a/b;c=d", {OVERRIDE + "Size": "700"})},
        {"name": "plain", "bytes": 5, "hash": "own", "content_type": "a/b"},
        {"subdir": "d/"},
    ]
    assert json.loads(listing_from_store(json.dumps(entries).encode())) == [
        {"name": "large", "bytes": 77, "hash": "own", "content_type": "a/b"},
        {"name": "put", "bytes": 9, "hash": ETAG, "content_type": "a/b"},
        {"name": "packed", "bytes": 700, "hash": "own", "content_type": "a/b;c=d"},
        {"name": "plain", "bytes": 5, "hash": "own", "content_type": "a/b"},
        {"subdir": "d/"},
    ]


def test_a_new_content_type_keeps_what_the_former_said_of_listings() -> None:
    stored = to_store("a/b;swift_bytes=77", {OVERRIDE + "etag": ETAG})
    again = with_listing_parameters(stored, "image/jpeg;q=1")
    entry = json.loads(listing_from_store(json.dumps([{"content_type": again, "bytes": 2}]).encode()))
    assert entry == [{"content_type": "image/jpeg;q=1", "bytes": 77, "hash": ETAG}]
    assert with_listing_parameters("a/b", "c/d") == "c/d"
    assert with_listing_parameters("a/b", "c/d; swift_bytes=9") == "c/d", "clients say nothing of listings"


def test_times_are_written_as_swift_does() -> None:
    listing = b'[{"name":"\\"last_modified\\":\\"1Z","last_modified":"2026-11-26T08:15:31.123Z"}]'
    assert json.loads(listing_from_store(listing)) == [
        {"name": '"last_modified":"1Z', "last_modified": "2026-11-26T08:15:31.123"}
    ]


def test_clients_say_nothing_of_listings() -> None:
    assert to_store("text/plain; zoe_gateway_over_size=1;zoe_gateway_bytes=9", {}) == "text/plain"


@given(st.binary(max_size=60))
def test_body_that_is_no_listing_stays_unchanged(noise: bytes) -> None:
    body = b"zoe_gateway_" + noise
    assert listing_from_store(body) == body
