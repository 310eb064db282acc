"""Left files of an ended container are listed from the archive of its engine, within limits."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest
from docker.errors import NotFound

from zoe_master.backends.engine.daemon.files import left_files
from zoe_master.backends.engine.daemon.files.left_files import read_left_files


class Engine:
    """Returns an archive of a directory `tmp` in small pieces."""

    def __init__(self, **files: int | None) -> None:
        whole = io.BytesIO()
        with tarfile.open(fileobj=whole, mode="w") as archive:
            for name, size in {"": None, **files}.items():
                member = tarfile.TarInfo(f"tmp/{name.replace('__', '/').replace('_dot_', '.')}")
                member.type = tarfile.DIRTYPE if size is None else tarfile.REGTYPE
                member.size = size or 0
                archive.addfile(member, None if size is None else io.BytesIO(bytes(size)))
        self.content, self.read = whole.getvalue(), 0
        self.unchanged = False

    def get_archive(self, container: str, path: str, chunk_size: int) -> tuple[Iterator[bytes], dict[str, Any]]:
        assert (container, path) == ("c1", "/tmp")
        return self._pieces(), {}

    def diff(self, container: str) -> list[dict[str, Any]] | None:
        """Only a directory above was changed, or nothing."""
        assert container == "c1"
        return None if self.unchanged else [{"Path": "/tmp", "Kind": 0}, {"Path": "/tmp/a", "Kind": 1}]

    def _pieces(self) -> Iterator[bytes]:
        for begin in range(0, len(self.content), 700):
            self.read += 700
            yield self.content[begin : begin + 700]


def test_the_largest_are_named_with_their_sizes() -> None:
    engine = Engine(small=10, model=3000, out=None, out__a=1000, out__deep=None, out__deep__b=1024, empty=None)
    assert (
        read_left_files(engine, "c1")
        == "model (2.93 KiB), out/ (2 files, 1.977 KiB), small (10 B), empty/ (0 files, 0 B)"
    )


def test_empty_hidden_and_own_files_are_not_listed() -> None:
    assert read_left_files(Engine(), "c1") == ""
    assert read_left_files(Engine(_dot_cache=None, _dot_cache__x=5), "c1") == ""


def test_a_large_tree_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_files, "BYTES_MAX", 20_000)
    engine = Engine(first=100, large=500_000, last=100)
    assert read_left_files(engine, "c1") == "large (488.3 KiB), first (100 B), not all were counted"
    assert engine.read < 30_000


def test_a_container_that_is_gone_left_nothing_that_can_be_told() -> None:
    class Gone:
        def get_archive(self, *_: object, **__: object) -> None:
            raise NotFound("no such container")

    assert read_left_files(Gone(), "c1") == ""


def test_an_unchanged_root_is_not_read() -> None:
    engine = Engine(a=10)
    assert read_left_files(engine, "c1", mounts=["/workspace"]) == "a (10 B)"
    engine.unchanged, engine.read = True, 0
    assert read_left_files(engine, "c1", mounts=["/workspace"]) == ""
    assert engine.read == 0
    assert read_left_files(engine, "c1", mounts=["/tmp"]) == "a (10 B)"
