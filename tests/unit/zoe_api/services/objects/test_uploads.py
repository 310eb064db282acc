"""Resumable uploads to the object store."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.support.plain_api import refusal, run
from tests.support.plain_swift import PlainSwift
from zoe_api.http.problems.codes import Code
from zoe_api.services.objects import uploads
from zoe_api.services.objects.uploads import StoredUpload, StoredUploads, UploadBounds, UploadMemory

PATH = (b"data", b"dir", b"a.csv")


class Uploading:
    """The uploads of Ada to a container."""

    def __init__(self, **bounds: int) -> None:
        self.swift = PlainSwift(data={})
        given = {"upload_bytes_max": 100, "segment_bytes_max": 4, "copied_bytes_max": 50, **bounds}
        self.bounds = UploadBounds(**given)
        self.memory = UploadMemory()

    @property
    def uploads(self) -> StoredUploads:
        return StoredUploads(self.swift.account, "ada", self.bounds, self.memory)

    def begin(self, length: int, path: tuple[bytes, ...] = PATH) -> StoredUpload:
        found: StoredUpload = run(self.uploads.create(path, length))
        return found

    def append(self, number: str, offset: int, *pieces: bytes, length: int | None = None) -> StoredUpload:
        async def body() -> Any:
            for piece in pieces:
                yield piece

        size = sum(map(len, pieces)) if length is None else length
        found: StoredUpload = run(self.uploads.append(number, offset, size, body()))
        return found

    @property
    def names(self) -> list[str]:
        return sorted(self.swift.containers.get("zoe-segments", {}))

    @property
    def content(self) -> bytes | None:
        return self.swift.containers["data"].get("dir/a.csv")


def test_a_file_without_content_is_there_at_once() -> None:
    one = Uploading()
    upload = one.begin(0)
    assert (one.content, upload.offset, upload.length) == (b"", 0, 0)
    assert one.swift.headers["data", "dir/a.csv"]["Content-Type"] == "text/csv"
    assert run(one.uploads.find(upload.id)) == upload


def test_an_upload_is_bounded_and_needs_its_container() -> None:
    assert Uploading().begin(100).length == 100
    with refusal(Code.TOO_LARGE):
        Uploading().begin(101)
    with refusal(Code.NOT_FOUND):
        Uploading().begin(1, (b"none", b"a"))


def test_state_of_an_upload_expires_in_the_store() -> None:
    one = Uploading()
    upload = one.begin(10)
    ((name, info),) = one.swift.containers["zoe-uploads"].items()
    assert name == f"ada/{upload.id}"
    assert json.loads(info) == {"path": "data/dir/a.csv", "length": 10}
    assert one.swift.headers["zoe-uploads", name]["X-Delete-After"] == "86400"
    assert upload.expires_at_s == pytest.approx(time.time() + 86400, abs=60)


def test_parts_become_one_object_when_all_of_them_are_there() -> None:
    one = Uploading()
    number = one.begin(10).id
    assert one.append(number, 0, b"01", b"", b"2345").offset == 6
    assert one.names == [f"{number}/{0:016}", f"{number}/{4:016}"]
    found = run(one.uploads.find(number))
    assert (found.offset, found.length, found.path) == (6, 10, PATH)
    assert one.content is None
    done = one.append(number, 6, b"6789")
    assert (done.offset, one.content, one.names) == (10, b"0123456789", [])
    assert one.swift.containers["zoe-uploads"] == {}
    assert run(one.uploads.find(number)).offset == 10


def test_a_large_object_stays_in_segments() -> None:
    one = Uploading(copied_bytes_max=9)
    number = one.begin(10).id
    one.append(number, 0, b"0123456789")
    assert one.content == b"0123456789"
    assert len(one.names) == 3
    assert all("X-Delete-After" not in one.swift.headers["zoe-segments", name] for name in one.names)
    assert one.swift.containers["zoe-uploads"] == {}


def test_many_segments_are_grouped() -> None:
    one = Uploading(copied_bytes_max=1, segment_bytes_max=1, manifest_entries_max=2)
    number = one.begin(5).id
    one.append(number, 0, b"01234")
    assert one.content == b"01234"
    assert [name for name in one.names if "group" in name] == [f"{number}/group-{n:06}" for n in (0, 2, 4)]


def test_a_part_goes_on_where_the_last_one_ended() -> None:
    one = Uploading()
    number = one.begin(10).id
    one.append(number, 0, b"0123")
    for offset in (3, 5):
        with refusal(Code.UPLOAD_OFFSET) as found:
            one.append(number, offset, b"x")
        assert found.problem.detail == f"the upload has 4 bytes, not {offset}"
    with refusal(Code.TOO_LARGE):
        one.append(number, 4, b"4567890")
    assert one.append(number, 4, b"456789").offset == 10


def test_upload_continues_after_a_cut() -> None:
    one = Uploading()
    number = one.begin(10).id
    assert one.append(number, 0, b"01234", length=10).offset == 5
    assert one.append(number, 5, b"56789").offset == 10
    assert one.content == b"0123456789"


def test_one_segment_is_copied_as_it_is() -> None:
    one = Uploading(segment_bytes_max=100)
    number = one.begin(3).id
    one.append(number, 0, b"abc")
    assert (one.content, one.names) == (b"abc", [])
    assert "large" not in one.swift.headers["data", "dir/a.csv"]


def test_an_upload_that_is_given_up_leaves_nothing() -> None:
    one = Uploading()
    number = one.begin(10).id
    one.append(number, 0, b"012345")
    run(one.uploads.end(number))
    assert (one.names, one.swift.containers["zoe-uploads"]) == ([], {})
    for work in (one.uploads.find(number), one.uploads.end(number)):
        with refusal(Code.UPLOAD_GONE):
            run(work)


@pytest.mark.parametrize("number", ["", "x" * 32, "0" * 31, "../" + "0" * 29])
def test_invalid_id_is_no_upload(number: str) -> None:
    with refusal(Code.UPLOAD_GONE):
        run(Uploading().uploads.find(number))


@pytest.mark.parametrize("info", [b"", b"{}", b'{"path": "../x", "length": 1}', b'{"path": "a", "length": "x"}', b"[]"])
def test_an_upload_that_cannot_be_read_is_gone(info: bytes) -> None:
    one = Uploading()
    number = one.begin(10).id
    one.swift.containers["zoe-uploads"][f"ada/{number}"] = info
    with refusal(Code.UPLOAD_GONE):
        run(one.uploads.find(number))


def test_a_user_has_a_bounded_number_of_unfinished_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "UNFINISHED_MAX", 2)
    one = Uploading()
    one.begin(1)
    one.begin(1)
    with refusal(Code.TOO_MANY_UPLOADS):
        one.begin(1)
    listed = sorted(one.swift.containers["zoe-uploads"])[0]
    one.swift.statuses["HEAD", f"zoe-uploads/{listed}"] = 404
    one.begin(1)


def test_only_one_request_writes_to_an_upload() -> None:
    memory = UploadMemory()
    with memory.hold_upload("a"), memory.hold_upload("b"), refusal(Code.UPLOAD_BUSY), memory.hold_upload("a"):
        pass
    with memory.hold_upload("a"):
        pass


def test_finished_uploads_are_remembered_in_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_FINISHED_MAX", 2)
    memory = UploadMemory()
    for key in ("a", "b", "c"):
        memory.finish(key, StoredUpload(key, PATH, 0, 0, 0.0))
    assert [memory.finished_upload(key) is None for key in ("a", "b", "c")] == [True, False, False]
