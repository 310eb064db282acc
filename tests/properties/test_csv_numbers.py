"""Numbers that are read many at once are those that are read one by one, bit by bit."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from storage_bridge.swift.csv_line import number_of
from storage_bridge.swift.csv_numbers import numbers_of

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "2000"))

decimal = st.from_regex(r"\A[+-]?([0-9]{1,15}|[0-9]{0,9}\.[0-9]{0,9})\Z").map(str.encode)
measured = st.floats(-1e6, 1e6).map(lambda number: f"{number:.3f}".encode())
any_float = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: repr(number).encode())
signs = st.lists(st.sampled_from([b"0", b"1", b"9", b".", b"+", b"-", b"e", b"E", b"x", b" ", b"\xff"]), max_size=45)
field = st.one_of(decimal, measured, any_float, signs.map(b"".join))


@settings(max_examples=CHECKS)
@given(st.lists(field, max_size=12))
@example([b"0.1", b"", b"-0", b"123456789012345", b"9007199254740993", b".000000000000001", b"-", b".", b"5.", b"1-2"])
def test_each_field_is_the_number_that_it_is_alone(fields: list[bytes]) -> None:
    values = np.frombuffer(b",".join(fields), dtype=np.uint8)
    lengths = np.array([len(one) for one in fields], dtype=np.int64)
    last = np.cumsum(lengths + 1) - 1
    found = numbers_of(values, last - lengths, last)
    meant = [number_of(one) for one in fields]
    assert found.tobytes() == np.array([np.nan if one is None else one for one in meant], dtype=np.float64).tobytes()
