from __future__ import annotations

import random

import pytest

from zoe_client.words.amounts import cores, count_with_noun, plain, size

GIB = 2**30


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 B"),
        (100, "100 B"),
        (1024, "1 KiB"),
        (3 * 2**20, "3 MiB"),
        (952 * 2**20, "952 MiB"),
        (1.5 * GIB, "1.5 GiB"),
        (1023.99 * GIB, "1024 GiB"),
        (10240 * GIB, "10 TiB"),
        (2**70, "1024 EiB"),
        (2**80, "1048576 EiB"),
        (-3 * GIB, "-3 GiB"),
    ],
)
def test_sizes_are_written_plainly(amount: float, text: str) -> None:
    assert size(amount) == text


@pytest.mark.parametrize(
    ("milli", "text"),
    [
        (1000, "1 core"),
        (1000.4, "1 core"),
        (999.6, "1 core"),
        (1500, "1.5 cores"),
        (50, "0.05 cores"),
        (0, "0 cores"),
        (10**10, "10000000 cores"),
    ],
)
def test_cores_are_written_plainly(milli: float, text: str) -> None:
    assert cores(milli) == text


def test_no_amount_has_an_exponent() -> None:
    chance = random.Random(4)
    for _ in range(2000):
        amount = int(10 ** chance.uniform(0, 25))
        assert "e" not in size(amount)
        assert "e+" not in cores(amount)
        assert float(size(amount).split()[0]) < 1025 or amount >= 2**70


def test_nouns_follow_their_count() -> None:
    assert plain(12_345.6) == "12346"
    assert [count_with_noun(n, "object") for n in (0, 1, 2)] == ["0 objects", "1 object", "2 objects"]
