"""A description is read once, however often it is submitted; a wrong one is refused each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.documents import job
from zoe_lib.descriptions import parse
from zoe_lib.domain.applications.application import Application
from zoe_lib.submission import checking as submission
from zoe_lib.submission.refusal import SubmissionRefused


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The descriptions that are read from now on."""
    found: list[Any] = []

    def noted(document: Any, each: str | None = None) -> Application:
        found.append(document)
        return parse(document, each=each)

    monkeypatch.setattr(submission, "parse", noted)
    submission._read.cache_clear()
    yield found
    submission._read.cache_clear()


def test_the_same_is_read_once(read: list[Any]) -> None:
    assert submission._parse(job("a")) is submission._parse(job("a"))
    assert submission._parse(job("b")) != submission._parse(job("a"))
    assert read == [job("a"), job("b")]


def test_numbers_and_truth_are_different(read: list[Any]) -> None:
    for value in (1, 1.0):
        assert submission._parse({**job(), "priority": 1, "time_limit_s": value})
    with pytest.raises(SubmissionRefused):
        submission._parse({**job(), "priority": True})
    assert len(read) == 3


def test_a_wrong_one_is_refused_each_time(read: list[Any]) -> None:
    for _ in range(2):
        with pytest.raises(SubmissionRefused) as refused:
            submission._parse({**job(), "colour": "red"})
        assert refused.value.errors
    assert len(read) == 2


def test_a_large_one_is_not_kept(read: list[Any]) -> None:
    for _ in range(2):
        submission._parse(job("x" * 4000, *["y" * 4000] * 4))
    assert len(read) == 2


def test_kept_applications_are_bounded(read: list[Any]) -> None:
    for number in range(100):
        submission._parse(job(f"command {number}"))
    assert submission._read.cache_info().currsize == 64
