"""The directory of unfinished uploads: it exists while it holds some, however many requests use it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from zoe_files.beneath import Root
from zoe_files.refusal import FileRefused
from zoe_files.unfinished import UnfinishedDirectory
from zoe_files.uploads import Bounds, Uploads


def directories(base: Path) -> list[Path]:
    return sorted(base.glob(".zoe-uploads*"))


def test_it_goes_with_the_last_upload(tmp_path: Path) -> None:
    uploads = Uploads(Root(str(tmp_path)), Bounds(100, 0))
    first, second, third = (uploads.create((name,), 3) for name in (b"a", b"b", b"c"))
    for upload in (first, second):
        assert len(directories(tmp_path)) == 1
        uploads.append(upload.id, 0, 3, lambda size: b"abc"[:size])
    uploads.end(third.id)
    assert (directories(tmp_path), (tmp_path / "b").read_bytes()) == ([], b"abc")
    uploads.create((b"empty",), 0)
    assert directories(tmp_path) == []
    assert uploads.find(first.id).path == "a", "a client that lost the answer asks again"
    with pytest.raises(FileRefused):
        uploads.find(third.id)


def test_another_request_that_makes_an_upload_keeps_it(tmp_path: Path) -> None:
    one, other = (UnfinishedDirectory(Root(str(tmp_path))) for _ in range(2))
    with one.get_or_create() as descriptor:
        other.remove_if_empty()
        os.close(os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    other.remove_if_empty()
    (directory,) = directories(tmp_path)
    (directory / "x").unlink()
    other.remove_if_empty()
    one.remove_if_empty()
    assert directories(tmp_path) == []


def test_requests_at_once_lose_nothing(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    shared = Uploads(Root(str(tmp_path)), Bounds(100, 0))

    def upload(prefix: str) -> None:
        uploads = shared if prefix in "ab" else Uploads(Root(str(tmp_path)), Bounds(100, 0))
        try:
            for number in range(40):
                made = uploads.create((f"{prefix}{number}".encode(),), 1)
                uploads.append(made.id, 0, 1, lambda _: b"x")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=upload, args=(prefix,)) for prefix in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(list(tmp_path.glob("[abcd]*"))) == 160
    assert directories(tmp_path) == []
