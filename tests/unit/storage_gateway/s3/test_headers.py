"""Headers go to S3 and come back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.kept_headers import from_store, to_store
from storage_gateway.s3.headers import changed_metadata, from_s3, to_s3

values = st.text(st.characters(min_codepoint=33, max_codepoint=255), min_size=1, max_size=300) | st.sampled_from(
    ("a  b%20 =?x?=", "", "%")
)
names = st.from_regex("X-Object-Meta-[A-Z][a-z]{1,9}", fullmatch=True)


@given(metadata=st.dictionaries(names, values, max_size=4), expires=st.sampled_from(["", "1700000000"]))
def test_stored_headers_come_back_unchanged(metadata: dict[str, str], expires: str) -> None:
    told = {**metadata, "Content-Type": "a/b; c=d", "Content-Disposition": "attachment"}
    put = {**told, "ETag": "0" * 32, "X-Amz-Acl": "public-read", **({"X-Delete-At": expires} if expires else {})}
    sent = to_s3(put)
    assert all(value.isascii() and value for name, value in sent.items())
    assert not {"etag", "x-amz-acl"} & {name.lower() for name in sent}
    found = {name.title(): value for name, value in from_store("object", from_s3(sent)).items()}
    assert found == {**told, **({"X-Delete-At": expires} if expires else {})}


def test_only_the_condition_that_stores_know_goes_along() -> None:
    assert to_s3({"If-None-Match": "*"}) == {"If-None-Match": "*"}
    assert to_s3({"If-None-Match": '"abc"', "If-Match": "*"}) == {}


def test_an_answer_is_told_in_swifts_words() -> None:
    told = from_s3({"ETag": '"abc"', "Last-Modified": "Thu, 26 Nov 2026 14:40:04 GMT", "Server": "x", "x-amz-id": "1"})
    assert told == {"ETag": "abc", "Last-Modified": "Thu, 26 Nov 2026 14:40:04 GMT", "X-Timestamp": "1795704004.00000"}


def test_metadata_of_containers_is_changed_as_swift_does() -> None:
    before = {"x-container-meta-a": "1", "x-container-meta-b": "2", "x-container-meta-c": "3"}
    headers = {
        "X-Container-Meta-A": "", "X-Remove-Container-Meta-B": "x", "X-Container-Meta-D": "4", "X-Trans-Id": "5",
    }  # fmt: skip
    assert changed_metadata(before, headers) == {"x-container-meta-c": "3", "x-container-meta-d": "4"}


@pytest.mark.parametrize("value", ["plain", "100 %", "d41d8; s3_etag=x-2; slo_etag=%22a%22", "\u00fc\u4e2d", "x" * 700])
def test_notes_of_middleware_come_back_as_notes(value: str) -> None:
    note = {"X-Object-Sysmeta-Container-Update-Override-Etag": value.encode().decode("latin-1")}
    assert from_store("object", from_s3(to_s3(to_store("object", note)))) == note
