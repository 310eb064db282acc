"""Make directories, rename and delete in an account."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import refusal, run
from tests.support.plain_swift import PlainSwift
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.objects import changes
from zoe_lib.store.errors import ConcurrentUpdate


class Claims:
    """Claims of names, by holder."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.taken: list[tuple[int, float]] = []

    def claim_names(self, ids: Any, holder: str, now_s: float, until_s: float) -> None:
        self.taken.append((len(set(ids)), until_s - now_s))
        if any(id_ in self.held for id_ in ids):
            raise ConcurrentUpdate("held")
        self.held |= dict.fromkeys(ids, holder)

    def release_names(self, holder: str) -> None:
        self.held = {text: other for text, other in self.held.items() if other != holder}


def swift() -> PlainSwift:
    return PlainSwift(data={"a": b"1", "dir/": b"", "dir/b": b"2", "dir/c": b"3"}, empty={})


def test_a_directory_is_a_container_or_a_marker_in_one() -> None:
    made = swift()
    run(changes.make_directory(made.account, ()))
    assert made.asked == []
    run(changes.make_directory(made.account, (b"new",)))
    assert made.containers["new"] == {}
    run(changes.make_directory(made.account, (b"new", b"x", b"y")))
    assert made.containers["new"] == {"x/y/": b""}
    assert made.headers["new", "x/y/"]["Content-Type"] == "application/directory"
    before = len(made.containers["data"])
    run(changes.make_directory(made.account, (b"data", b"dir")))
    assert len(made.containers["data"]) == before
    with refusal(Code.FILE_EXISTS):
        run(changes.make_directory(made.account, (b"data", b"a")))
    made.statuses["HEAD", "data/q"] = 403
    with refusal(Code.FILE_DENIED):
        run(changes.make_directory(made.account, (b"data", b"q")))


def rename(made: PlainSwift, path: tuple[bytes, ...], to: tuple[bytes, ...], claims: Claims | None = None) -> Claims:
    held = claims or Claims()
    run(changes.rename(made.account, path, to, held))
    return held


def test_an_object_gets_a_name_that_is_free() -> None:
    made = swift()
    claims = rename(made, (b"data", b"a"), (b"empty", b"x", b"a b"))
    assert made.containers["empty"] == {"x/a b": b"1"}
    assert "a" not in made.containers["data"]
    assert (claims.taken, claims.held) == ([(2, 600 + 200 + 120)], {})
    with refusal(Code.FILE_EXISTS):
        rename(made, (b"data", b"dir", b"b"), (b"data", b"dir", b"c"))
    assert made.containers["data"]["dir/c"] == b"3"


@pytest.mark.parametrize(
    ("path", "to"),
    [((b"data",), (b"data", b"x")), ((b"data", b"a"), (b"x",)), ((b"data", b"dir"), (b"data", b"x"))],
)
def test_only_objects_are_renamed(path: tuple[bytes, ...], to: tuple[bytes, ...]) -> None:
    with refusal(Code.WRONG_KIND):
        rename(swift(), path, to)


def test_two_do_not_rename_to_one_name_and_an_unanswered_rename_keeps_its_claim() -> None:
    made, claims = swift(), Claims()
    made.statuses["PUT", "data/x"] = 500
    with refusal(Code.FILES_UNAVAILABLE):
        rename(made, (b"data", b"a"), (b"data", b"x"), claims)
    assert len(claims.held) == 2
    with refusal(Code.FILES_BUSY):
        rename(made, (b"data", b"dir", b"b"), (b"data", b"x"), claims)
    made.statuses["PUT", "data/y"] = 403
    with refusal(Code.FILE_DENIED):
        rename(made, (b"data", b"dir", b"b"), (b"data", b"y"), claims)
    assert len(claims.held) == 2


def delete(made: PlainSwift, *path: bytes, recursive: bool = False) -> None:
    run(changes.delete(made.account, path, recursive=recursive))


def test_objects_and_empty_directories_are_deleted() -> None:
    made = swift()
    delete(made, b"data", b"a")
    assert "a" not in made.containers["data"]
    delete(made, b"empty")
    assert "empty" not in made.containers
    for path in ((b"data", b"dir"), (b"data",)):
        with refusal(Code.WRONG_KIND):
            delete(made, *path)
    with refusal(Code.INVALID_PATH):
        delete(made)
    with refusal(Code.NOT_FOUND):
        delete(made, b"data", b"none")


def test_a_directory_is_deleted_with_what_is_in_it_if_that_is_wished() -> None:
    made = swift()
    delete(made, b"data", b"dir", recursive=True)
    assert made.containers["data"] == {"a": b"1"}
    delete(made, b"data", recursive=True)
    assert made.containers.keys() == {"empty"}
    marked = PlainSwift(data={"dir/": b"", "a": b""})
    delete(marked, b"data", b"dir")
    assert marked.containers["data"] == {"a": b""}


def test_large_objects_are_deleted_with_their_segments() -> None:
    made = swift()
    made.headers["data", "a"] = {"X-Static-Large-Object": "True"}
    delete(made, b"data", b"a")
    assert made.queries[-1] == {"multipart-manifest": "delete"}
    made.headers["data", "dir/b"] = {"large": "x"}
    delete(made, b"data", b"dir", recursive=True)
    sent = dict(zip(made.asked, made.queries, strict=True))
    assert sent["DELETE", "data/dir/b"] == {"multipart-manifest": "delete"}
    assert sent["DELETE", "data/dir/c"] == {}


def test_object_with_an_unsendable_path_stays_and_is_reported() -> None:
    made = PlainSwift(data={"dir/../x": b"", "dir/b": b""})
    with refusal(Code.WRONG_KIND) as found:
        delete(made, b"data", b"dir", recursive=True)
    assert "still has 1 objects" in found.problem.detail
    assert made.containers["data"] == {"dir/../x": b""}


def test_a_request_deletes_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_DELETED_MAX", 2)
    monkeypatch.setattr(changes, "_PAGE", 2)
    made = PlainSwift(data={str(n): b"" for n in range(4)})
    with refusal(Code.FILES_BUSY) as found:
        delete(made, b"data", recursive=True)
    assert found.problem.detail.startswith("2 objects are deleted")
    assert len(made.containers["data"]) == 2


def test_a_refused_delete_is_told() -> None:
    made = swift()
    made.statuses["DELETE", "data/dir/b"] = 403
    with pytest.raises(ApiProblem):
        delete(made, b"data", b"dir", recursive=True)
