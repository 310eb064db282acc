"""Reports of object servers on their CPU time, between the pieces of a body."""

from __future__ import annotations

import random

import pytest

from storage_filters.counting.cpu_frames import CpuRecord, frames_of, pieces_of


@pytest.mark.parametrize("seed", range(20))
def test_pieces_and_cpu_time_come_as_they_were_told_in_any_chunks(seed: int) -> None:
    draw = random.Random(seed)
    pieces = [draw.randbytes(draw.choice([0, 1, 7, 300])) for _ in range(draw.randrange(8))]
    record, took = CpuRecord(), 0
    stream = b""
    frames = frames_of(pieces, record.take_us)
    for _ in range(len(pieces) + 1):
        spent = draw.randrange(10**7)
        took += spent
        record.book(spent, 0)
        stream += next(frames)
    assert next(frames, None) is None
    chunks = []
    while stream:
        size = draw.choice([1, 5, 64, 1000])
        chunks.append(stream[:size])
        stream = stream[size:]
    told: list[int] = []
    assert b"".join(pieces_of(chunks, told.append)) == b"".join(pieces)
    assert took - 1000 < sum(told) <= took


def test_a_cut_stream_gives_what_came() -> None:
    whole = b"".join(frames_of([b"abcdef"], lambda: 3))
    assert b"".join(pieces_of([whole[:11]], lambda _: None)) == b"abc"
    assert b"".join(pieces_of([whole[:5]], lambda _: pytest.fail("nothing is told"))) == b""
