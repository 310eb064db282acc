"""Rate limits on jobs' calls."""

from __future__ import annotations

import pytest

from tests.support.manual_clock import ManualClock
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.job_calls import CallRates


def test_a_job_has_its_rate_and_others_theirs() -> None:
    clock = ManualClock()
    rates = CallRates(5, clock)
    for _ in range(10):  # bursts of two seconds
        rates.take("x1")
    with pytest.raises(ApiProblem, match="job_calls_too_often") as refused:
        rates.take("x1")
    assert (refused.value.problem.status, refused.value.problem.retry_after_s) == (429, 1)
    rates.take("x2")
    clock.advance(1.0)
    for _ in range(5):
        rates.take("x1")
    with pytest.raises(ApiProblem):
        rates.take("x1")


def test_refused_calls_do_not_make_a_job_wait_longer() -> None:
    clock = ManualClock()
    rates = CallRates(1, clock)
    for _ in range(10_000):
        try:
            rates.take("x1")
        except ApiProblem:
            continue
    clock.advance(1.1)
    rates.take("x1")


def test_refusals_of_a_job_are_spaced_as_its_calls_are() -> None:
    """Otherwise each of its connections would get one a second, which costs as much as responses."""
    clock = ManualClock()
    rates = CallRates(20, clock)
    waits = [rates.refusal_in_s("x1") for _ in range(400)]
    assert waits[:3] == pytest.approx([1.0, 1.05, 1.1])
    assert waits[199] == pytest.approx(1.0 + 199 / 20)
    assert max(waits) == waits[-1] == pytest.approx(15.0)  # sooner than a program gives up
    assert rates.refusal_in_s("x2") == 1.0
    clock.advance(20.0)
    assert rates.refusal_in_s("x1") == 1.0
