"""Many files in one request."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from zoe_client.calls.trees import TreeFile, body_length, body_of
from zoe_files.beneath import Root
from zoe_files.refusal import FileRefused
from zoe_files.trees import TreeWriter, Written


def write(directory: Path, body: bytes, above: tuple[bytes, ...] = (), length: int | None = None) -> Written:
    """Write a body that arrives in small pieces."""
    stream = io.BytesIO(body)
    writer = TreeWriter(Root(str(directory)), lambda needed, shown: None)
    return writer.write(above, len(body) if length is None else length, lambda size: stream.read(min(size, 7)))


def body(*files: TreeFile) -> bytes:
    sent: list[int] = []
    found = b"".join(body_of(files, sent.append))
    assert len(found) == body_length(files)
    assert (sent or [0])[-1] == sum(file.size for file in files)
    return found


def line(**said: object) -> bytes:
    return json.dumps(said).encode() + b"\n"


def test_what_a_client_sends_is_written(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"\n{}" * 50)
    files = (
        TreeFile("a/b.bin", source, 150, mode=0o500),
        TreeFile("empty", tmp_path / "source", 0),
        TreeFile("bare/folder", directory=True),
        TreeFile("again/c", link="a/b.bin"),
    )
    assert write(tmp_path, body(*files), (b"to", b"there")) == Written(4, 150)
    there = tmp_path / "to/there"
    assert (there / "a/b.bin").read_bytes() == source.read_bytes() == (there / "again/c").read_bytes()
    assert (there / "a/b.bin").stat().st_ino == (there / "again/c").stat().st_ino
    assert (there / "a/b.bin").stat().st_mode & 0o777 == 0o500
    assert ((there / "empty").read_bytes(), (there / "bare/folder").is_dir()) == (b"", True)
    assert write(tmp_path, body(*files), (b"to", b"there")).files == 4, "a repeated request writes the same"
    assert not list(tmp_path.glob(".zoe-uploads*"))


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (line(path="../x", size=0), "invalid_path"),
        (line(path="", size=0), "invalid_path"),
        (line(path="x", size=-1), "invalid_upload"),
        (line(path="x", size=True), "invalid_upload"),
        (line(path="x", size=0, mode=0o4755), "invalid_upload"),
        (line(path="x"), "invalid_upload"),
        (b"[]\n", "invalid_upload"),
        (b"[" * 20_000 + b"\n", "invalid_upload"),
        (b"x" * 40_000, "invalid_upload"),
        (line(path="x", size=5) + b"1234", "invalid_upload"),
        (line(path="x", size=1, sha256="0" * 64) + b"1", "invalid_upload"),
        (line(path="x", size=1, sha256=5) + b"1", "invalid_upload"),
        (line(path="folder", size=1) + b"1", "wrong_kind"),
        (line(path="x", link="none"), "not_found"),
        (line(path="x", link="folder"), "wrong_kind"),
        (line(path="away/x", size=0), "file_denied"),
        (line(path=".zoe-uploads-0-x/y", size=0), "wrong_kind"),
    ],
)
def test_hostile_bodies_are_refused_and_leave_nothing(tmp_path: Path, sent: bytes, code: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "away").symlink_to("/tmp")
    with pytest.raises(FileRefused) as refused:
        write(tmp_path, sent)
    assert refused.value.code == code
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("kept")
    (tmp_path / "name").symlink_to("target")
    write(tmp_path, line(path="name", size=3) + b"new")
    assert ((tmp_path / "target").read_text(), (tmp_path / "name").read_text()) == ("kept", "new")


def test_a_body_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="at most"):
        write(tmp_path, b"", length=1 << 30)
