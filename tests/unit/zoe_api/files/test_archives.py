"""Archives of files, made while they are sent."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, cast

import httpx
import pytest

from tests.support.plain_api import run
from zoe_api.apps.forwarding import BrokeOff
from zoe_api.files import archives
from zoe_api.files.archives import archive_bytes, contents_of
from zoe_api.files.sources import FileSource
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_client.wire import FileEntry, FileList

Tree = dict[str, Any]


class Files:
    """A source of files: a directory is a mapping, a link to one a tuple, another thing None."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def _at(self, path: str) -> Any:
        found: Any = self.tree
        for part in filter(None, path.split("/")):
            found = found[part]
        return found

    async def list(self, path: str, after: str, limit: int) -> FileList:
        found = self._at(path)
        names = sorted(name for name in found if name > after) if isinstance(found, dict) else []
        page, rest = names[: min(limit, 2)], names[min(limit, 2) :]
        entries = [entry(name, found[name]) for name in page]
        return FileList(entry=entry(path.rpartition("/")[2], found), entries=entries, next=page[-1] if rest else None)

    async def content(self, path: str, wanted: Mapping[str, str]) -> httpx.Response:
        found = self._at(path)
        if found == b"gone":
            raise ApiProblem(Code.NOT_FOUND, path)
        return httpx.Response(200, content=pieces(found))


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 4):
        yield content[start : start + 4]


def entry(name: str, found: Any) -> FileEntry:
    kind: Literal["file", "directory", "other"] = "file" if isinstance(found, bytes) else "directory"
    kind = "other" if found is None else kind
    size = len(found) if isinstance(found, bytes) else 0
    return FileEntry(name=name, kind=kind, size_bytes=size, modified_at_s=1e9, link=isinstance(found, tuple))


def archive(tree: Tree, *paths: str) -> zipfile.ZipFile:
    source = cast("FileSource", Files(tree))

    async def written() -> bytes:
        return b"".join([piece async for piece in archive_bytes(source, await contents_of(source, paths))])

    return zipfile.ZipFile(io.BytesIO(run(written())))


TREE: Tree = {
    "work": {"a.txt": b"the first", "b%25.txt": b"", "deep": {"c": b"x" * 10, "empty": {}}, "pipe": None, "loop": ()},
    "one.py": b"print()",
}


def test_an_archive_has_the_files_below_its_paths() -> None:
    made = archive(TREE, "work", "one.py")
    assert made.testzip() is None
    assert [name for name in made.namelist() if not name.endswith("/")] == [
        "work/a.txt", "work/b%.txt", "work/deep/c", "one.py", "LEFT-OUT.txt",
    ]  # fmt: skip
    assert "work/deep/empty/" in made.namelist()
    assert made.read("work/deep/c") == b"x" * 10
    assert made.getinfo("one.py").date_time[:3] == (2001, 9, 9)
    assert made.read("LEFT-OUT.txt").split() == [b"work/loop", b"work/pipe"]


def test_the_whole_workspace_is_one_archive() -> None:
    assert "work/a.txt" in archive(TREE, "").namelist()


def test_too_many_files_are_refused_before_the_first_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "FILES_MAX", 3)
    with pytest.raises(ApiProblem, match="an archive can have at most 3"):
        archive(TREE, "work", "one.py")


def test_an_archive_that_is_not_whole_breaks_off() -> None:
    with pytest.raises(BrokeOff, match="it"):
        archive({"it": b"gone"}, "it")
