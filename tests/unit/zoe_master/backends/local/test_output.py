"""Bounded output: offsets and the limit hold for any writes and failures."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoe_master.backends.local.services.outputs import KeptOutputs, read_output
from zoe_master.backends.local.supervisor import files
from zoe_master.backends.local.supervisor.output import BoundedOutput
from zoe_master.backends.services.kept_logs import BYTES_MIN


def stream(length: int) -> bytes:
    """Return bytes in which every position differs from its neighbours."""
    return b"".join(b"%07d," % number for number in range(length // 8 + 1))[:length]


def read_all(service: Path, limit: int) -> list[tuple[int, bytes]]:
    pieces, offset, complete = [], 0, False
    while not complete:
        chunk = read_output(service, offset, limit)
        assert chunk.offset == offset + chunk.dropped_bytes
        assert chunk.data or chunk.complete
        pieces.append((chunk.offset, chunk.data))
        offset, complete = chunk.next_offset, chunk.complete
    return pieces


def end(service: Path, output: BoundedOutput) -> None:
    output.close()
    files.write_json(str(service / files.STATUS), {"state": "ended", "output_bytes": output.offset})


@given(
    st.lists(st.integers(1, 3000), max_size=30),
    st.integers(1024, 8192),
    st.integers(1, 5000),
    st.sets(st.integers(0, 40)),
)
@settings(max_examples=60)
def test_output_is_read_at_its_written_offset(sizes: list[int], bound: int, limit: int, failing: set[int]) -> None:
    data = stream(sum(sizes))
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        service = Path(name)
        (service / files.OUTPUT).mkdir()
        output = BoundedOutput(str(service / files.OUTPUT), bound)
        patch.setattr("zoe_master.backends.local.supervisor.output.os.write", failing_write(failing))
        offset = 0
        for size in sizes:
            output.write(data[offset : offset + size])
            offset += size
            assert sum(path.stat().st_size for path in (service / files.OUTPUT).iterdir()) <= bound
        patch.undo()
        end(service, output)
        assert output.offset == len(data)
        pieces = read_all(service, limit)
        assert pieces[-1][0] + len(pieces[-1][1]) == len(data)
        for first, piece in pieces:
            assert data[first : first + len(piece)] == piece
        if not failing:
            assert b"".join(piece for _, piece in pieces).startswith(data[: bound // 4])
            assert data.endswith(pieces[-1][1])


def failing_write(failing: set[int]) -> object:
    """Simulate a disk that is full at some calls and half full at others."""
    calls = iter(range(10**9))
    write = os.write

    def failing_now(descriptor: int, data: bytes) -> int:
        number = next(calls)
        if number in failing and number % 2:
            return write(descriptor, data[: len(data) // 2 + 1])
        if number in failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    return failing_now


def test_no_output_at_all_is_complete_at_the_end(tmp_path: Path) -> None:
    (tmp_path / files.OUTPUT).mkdir()
    end(tmp_path, BoundedOutput(str(tmp_path / files.OUTPUT), 4096))
    chunk = read_output(tmp_path, 0, 100)
    assert (chunk.data, chunk.offset, chunk.complete) == (b"", 0, True)


def test_before_anything_is_there_nothing_is_read(tmp_path: Path) -> None:
    chunk = read_output(tmp_path, 0, 100)
    assert (chunk.data, chunk.next_offset, chunk.complete) == (b"", 0, False)


def test_prune_keeps_the_newest_within_bytes_and_age(tmp_path: Path) -> None:
    now_s = time.time()
    for number in range(6):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "file").touch()
        os.utime(tmp_path / str(number), (now_s - 100 * number, now_s - 100 * number))
    assert KeptOutputs(tmp_path).prune(bytes_max=4 * BYTES_MIN, age_max_s=250.0) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]
