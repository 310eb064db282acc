"""What the index knows is of one version of an object."""

from __future__ import annotations

from storage_gateway.s3.index import Entry, Index
from storage_gateway.s3.pages import Item


def of(index: Index, bucket: str, key: str, etag: str, size: int, written_s: int) -> str | None:
    return index.content_types(bucket, [(Item(key, etag, size), written_s)]).get(key)


def test_another_version_is_not_known() -> None:
    index = Index()
    index.note("b", "k", Entry("e", 3, 100, "a/b"))
    assert of(index, "b", "k", "e", 3, 101) == "a/b"
    for version in (("f", 3, 100), ("e", 4, 100), ("e", 3, 102)):
        assert of(index, "b", "k", *version) is None
    assert of(index, "c", "k", "e", 3, 100) is None
    index.forget("b", "k")
    assert of(index, "b", "k", "e", 3, 100) is None


def test_it_is_bounded_and_the_unused_go_first() -> None:
    index = Index(entries_max=2)
    for key in ("a", "b"):
        index.note("b", key, Entry("e", 3, 100, key))
    assert of(index, "b", "a", "e", 3, 100) == "a"
    index.note("b", "c", Entry("e", 3, 100, "c"))
    known = [of(index, "b", key, "e", 3, 100) for key in ("a", "b", "c")]
    assert known == ["a", None, "c"]
