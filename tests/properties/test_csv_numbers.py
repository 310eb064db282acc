"""Numbers that are read many at once equal the same numbers read one by one, bit by bit."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from storage_filters.csv.numbers import numbers_of
from storage_filters.csv.readings import number_of
from tests.support.checks import CHECKS

PER_CASE = 500
SIGNS = [b"0", b"1", b"9", b".", b"+", b"-", b"e", b"E", b"x", b" ", b"\xff"]


def digits(chance: random.Random, least: int, most: int) -> str:
    return "".join(chance.choices("0123456789", k=chance.randint(least, most)))


def decimal(chance: random.Random) -> bytes:
    whole = chance.random() < 0.5
    number = digits(chance, 1, 15) if whole else f"{digits(chance, 0, 9)}.{digits(chance, 0, 9)}"
    return (chance.choice(["", "+", "-"]) + number).encode()


def measured(chance: random.Random) -> bytes:
    return f"{chance.uniform(-1e6, 1e6):.3f}".encode()


def any_float(chance: random.Random) -> bytes:
    """As likely tiny or huge as near one, and sometimes with few digits."""
    number: float = struct.unpack("<d", chance.randbytes(8))[0]
    return repr(chance.choice([number, float(chance.randint(-1000, 1000)), 0.0, -0.0])).encode()


def any_signs(chance: random.Random) -> bytes:
    signs = chance.sample(SIGNS, chance.randint(1, len(SIGNS)))
    return b"".join(chance.choices(signs, k=chance.randint(0, chance.choice([3, 10, 45]))))


@pytest.mark.parametrize("first_seed", range(0, 8 * CHECKS, PER_CASE))
def test_each_field_is_the_number_that_it_is_alone(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        chance = random.Random(seed)
        kinds = chance.choices([decimal, measured, any_float, any_signs], k=chance.randint(0, 12))
        check([kind(chance) for kind in kinds])


def test_short_and_odd_numbers_are_those_that_they_are_alone() -> None:
    check([b"0.1", b"", b"-0", b"123456789012345", b"9007199254740993", b".000000000000001", b"-", b".", b"5.", b"1-2"])


def check(fields: list[bytes]) -> None:
    values = np.frombuffer(b",".join(fields), dtype=np.uint8)
    lengths = np.array([len(field) for field in fields], dtype=np.int64)
    last = np.cumsum(lengths + 1) - 1
    found = numbers_of(values, last - lengths, last)
    meant = np.array([np.nan if value is None else value for value in map(number_of, fields)], dtype=np.float64)
    assert found.tobytes() == meant.tobytes(), fields
