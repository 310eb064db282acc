"""The kept copy of a service's output."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_master.backends.engine.daemon import output

T1, T2, T3 = (f"2026-01-01T00:00:0{second}.000000001Z" for second in (1, 2, 3))


def test_copied_output_is_not_copied_again(tmp_path: Path) -> None:
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
    output.append(tmp_path, [(T1, b"0123456789"), (T2, b"abcdefghij!")], True, 20)
    chunk = output.read(tmp_path, 5, 4)
    assert (chunk.data, chunk.offset, chunk.dropped_bytes, chunk.complete) == (b"bcde", 11, 6, False)
    assert output.read(tmp_path, chunk.next_offset, 100).data == b"fghij!"
    assert output.read(tmp_path, 21, 100).complete


def test_beyond_the_bound_the_beginning_stays_too(tmp_path: Path) -> None:
    output.append(tmp_path, [(T1, b"0123456789")], False, 20)
    output.append(tmp_path, [(T1, b"0123456789"), (T2, b"abcdefghij!")], True, 20)
    head = output.read(tmp_path, 0, 100)
    assert (head.data, head.next_offset, head.complete) == (b"01234", 5, False)
    rest = output.read(tmp_path, head.next_offset, 100)
    assert (rest.data, rest.offset, rest.dropped_bytes, rest.complete) == (b"bcdefghij!", 11, 6, True)
    assert not rest.dropped_at_least


def test_output_dropped_by_the_engine_is_counted(tmp_path: Path) -> None:
    output.append(tmp_path, [(T1, b"0123456789")], False, 20)
    output.append(tmp_path, [(T2, b"ab"), (T3, b"cd")], True, 20)
    rest = output.read(tmp_path, 5, 100)
    assert (rest.data, rest.offset, rest.dropped_bytes, rest.dropped_at_least) == (b"abcd", 11, 6, True)


def test_a_first_copy_of_all_that_an_engine_can_hold_has_lost_the_beginning(tmp_path: Path) -> None:
    output.append(tmp_path, [(T1, b"0123456789\n")] * 200, True, 20)
    first = output.read(tmp_path, 0, 100)
    assert first.dropped_at_least
    assert first.offset + len(first.data) == 2201
    assert first.complete


def test_empty_output_is_complete_after_the_end(tmp_path: Path) -> None:
    assert not output.read(tmp_path / "none", 0, 10).complete
    output.append(tmp_path, [], True, 100)
    assert output.read(tmp_path, 0, 10).complete
