"""Samples of stored bodies."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from storage_filters.bandwidth.content_samples import ONE_IN, SAMPLE_BYTES, ContentSamples

NAME = "PUT/AUTH_acme/logs"


@pytest.fixture
def samples(tmp_path: Path) -> ContentSamples:
    return ContentSamples(tmp_path / "zoe-rates")


def put(samples: ContentSamples, *pieces: bytes) -> bool:
    sample = samples.begin(NAME)
    if sample is None:
        return False
    for piece in pieces:
        sample.see(piece)
    sample.count()
    return True


def amounts(samples: ContentSamples) -> tuple[int, ...]:
    return samples.counts().get(NAME, (0, 0, 0))[1:]


def test_text_becomes_small_and_random_bytes_do_not(samples: ContentSamples) -> None:
    assert put(samples, b"the same line again\n" * 2000)
    sampled, compressed = amounts(samples)
    assert (sampled, compressed < 500) == (40_000, True)
    assert put(samples, random.Random(1).randbytes(40_000))
    assert amounts(samples) == (80_000, compressed + 40_000)


def test_only_the_beginning_is_looked_at_and_nothing_of_small_bodies(samples: ContentSamples) -> None:
    put(samples, *[b"a" * 50_000] * 100)
    assert amounts(samples)[0] == SAMPLE_BYTES
    put(samples, b"a" * 1000)
    put(samples)
    assert amounts(samples)[0] == SAMPLE_BYTES


def test_one_body_in_eight_is_sampled_and_the_first_ones(samples: ContentSamples) -> None:
    taken = [put(samples, b"x" * 2000) for _ in range(1000)]
    assert all(taken[:ONE_IN])
    assert 60 < sum(taken) < 210  # some 132; further away less than once in a million times


def test_a_body_that_was_not_stored_counts_for_nothing(samples: ContentSamples) -> None:
    sample = samples.begin(NAME)
    assert sample is not None
    sample.see(b"a" * 50_000)
    assert samples.counts() == {}
