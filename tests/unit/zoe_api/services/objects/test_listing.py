"""Containers and objects as directories and files."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import refusal, run
from tests.support.plain_swift import PlainSwift
from zoe_api.http.problems.codes import Code
from zoe_api.services.objects import listing
from zoe_api.services.objects.listing import list_entries


def swift() -> PlainSwift:
    made = PlainSwift(
        data={"a.txt": b"12345", "dir/": b"", "dir/b": b"1", "dir/sub/c": b"1", "only/d": b"", "x//y": b"", "z/": b"1"},
        other={},
    )
    made.containers["zoe-uploads"] = made.containers["zoe-segments"] = made.containers["zoe-view-1"] = {}
    made.headers["data", "dir/"] = {"Content-Type": "application/directory"}
    return made


def shown(path: tuple[bytes, ...], after: str = "", limit: int = 100) -> tuple[list[Any], str | None]:
    found = run(list_entries(swift().account, path, after, limit))
    return [(entry.name, entry.kind) for entry in found.entries], found.next


def test_containers_are_directories_but_those_that_zoe_keeps_for_itself() -> None:
    assert shown(()) == ([("data", "directory"), ("other", "directory")], None)
    assert shown((), limit=1) == ([("data", "directory")], "data")
    assert shown((), after="data/") == ([("other", "directory")], None)
    assert shown((), limit=3) == ([("data", "directory"), ("other", "directory")], "zoe-segments")


def test_common_beginnings_of_names_are_directories_once() -> None:
    assert shown((b"data",)) == (
        [("a.txt", "file"), ("dir", "directory"), ("only", "directory"), ("x", "directory"), ("z", "directory")],
        None,
    )
    assert shown((b"data", b"dir")) == ([("b", "file"), ("sub", "directory")], None)
    assert shown((b"data", b"x")) == ([("/", "other")], None)


def test_a_page_goes_on_behind_its_last_name() -> None:
    first, after = shown((b"data",), limit=2)
    assert (first, after) == ([("a.txt", "file"), ("dir", "directory")], "dir/")
    assert after is not None
    assert shown((b"data",), after, 2) == ([("only", "directory"), ("x", "directory")], "x/")


def test_a_file_tells_its_size_and_time() -> None:
    found = run(list_entries(swift().account, (b"data", b"a.txt"), "", 10))
    assert (found.entry.kind, found.entry.size_bytes, found.entry.modified_at_s, found.entries) == ("file", 5, 7.0, [])
    entries = run(list_entries(swift().account, (b"data",), "", 10)).entries
    assert (entries[0].size_bytes, entries[0].modified_at_s) == (5, 1793491200.0)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ((), "directory"),
        ((b"data",), "directory"),
        ((b"data", b"dir"), "directory"),
        ((b"data", b"only"), "directory"),
        ((b"data", b"a.txt"), "file"),
        ((b"data", b"none"), None),
        ((b"none",), None),
        ((b"none", b"a"), None),
    ],
)
def test_a_path_leads_to_a_file_a_directory_or_nothing(path: tuple[bytes, ...], kind: str | None) -> None:
    if kind is None:
        with refusal(Code.NOT_FOUND):
            run(listing.entry_of(swift().account, path))
        return
    assert run(listing.entry_of(swift().account, path)).kind == kind


def test_a_marker_of_a_directory_is_one() -> None:
    made = swift()
    made.containers["data"]["marked"] = b""
    made.headers["data", "marked"] = {"Content-Type": "application/directory; charset=x"}
    assert run(listing.entry_of(made.account, (b"data", b"marked"))).kind == "directory"


@pytest.mark.parametrize(
    ("one", "entry"),
    [
        ({"name": "p/..", "bytes": 1}, ("..", "other")),
        ({"name": "p/.", "bytes": 1}, (".", "other")),
        ({"name": "p/a\0", "bytes": 1}, ("a%00", "other")),
        ({"name": "p/", "bytes": 0}, None),
        ({"subdir": "p/d/"}, ("d", "directory")),
        ({"name": "p/d", "bytes": 0, "content_type": "application/directory"}, ("d", "directory")),
        ({"name": "p/f%", "bytes": 3}, ("f%25", "file")),
    ],
)
def test_names_that_no_path_leads_to_are_of_another_kind(one: dict[str, Any], entry: Any) -> None:
    assert [(e.name, e.kind) for e in listing._objects([one], "p/")] == ([] if entry is None else [entry])


def test_a_marker_beside_its_prefix_is_listed_once() -> None:
    both = [{"name": "d", "content_type": "application/directory", "bytes": 0}, {"subdir": "d/"}]
    assert [object_.name for object_ in listing._objects(both, "")] == ["d"]


@pytest.mark.parametrize(
    ("path", "prefix"), [((b"c",), ""), ((b"c", b"a"), "a/"), ((b"c", b"a", b"b"), "a/b/"), ((), "")]
)
def test_names_below_a_path_begin_with_it(path: tuple[bytes, ...], prefix: str) -> None:
    assert listing.prefix_of(path) == prefix


def test_the_next_page_passes_over_what_is_in_a_directory() -> None:
    assert listing._marker("p/", "") == ""
    assert listing._marker("p/", "a%25") == "p/a%"
    assert listing._marker("p/", "d/") == "p/d/\U0010ffff"
