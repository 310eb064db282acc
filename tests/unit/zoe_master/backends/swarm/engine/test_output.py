"""The kept copy of what a service prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_master.backends.swarm.engine import output

T1, T2, T3 = (f"2026-01-01T00:00:0{second}.000000001Z" for second in (1, 2, 3))


def test_what_was_copied_is_not_copied_again(tmp_path: Path) -> None:
    output.append(tmp_path, [(T1, b"a"), (T1, b"b")], False, 100)
    output.append(tmp_path, [(T1, b"a"), (T1, b"b"), (T1, b"c"), (T2, b"d")], False, 100)
    output.append(tmp_path, [(T2, b"d"), (T3, b"e")], True, 100)
    chunk = output.read(tmp_path, 0, 100)
    assert (chunk.data, chunk.complete) == (b"abcde", True)


def test_a_copy_that_breaks_off_goes_on_where_it_was(tmp_path: Path) -> None:
    def broken() -> object:
        yield T1, b"a"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        output.append(tmp_path, broken(), True, 100)  # type: ignore[arg-type]
    assert not output.read(tmp_path, 0, 100).complete
    output.append(tmp_path, [(T1, b"a"), (T2, b"b")], True, 100)
    assert output.read(tmp_path, 0, 100).data == b"ab"


def test_beyond_the_bound_the_oldest_goes_and_offsets_stay_true(tmp_path: Path) -> None:
    output.append(tmp_path, [(T1, b"0123456789")], False, 20)
    output.append(tmp_path, [(T2, b"abcdefghij!")], True, 20)
    chunk = output.read(tmp_path, 5, 4)
    assert (chunk.data, chunk.offset, chunk.dropped_bytes, chunk.complete) == (b"bcde", 11, 6, False)
    assert output.read(tmp_path, chunk.next_offset, 100).data == b"fghij!"
    assert output.read(tmp_path, 21, 100).complete


def test_nothing_printed_is_complete_once_it_has_ended(tmp_path: Path) -> None:
    assert not output.read(tmp_path / "none", 0, 10).complete
    output.append(tmp_path, [], True, 100)
    assert output.read(tmp_path, 0, 10).complete
