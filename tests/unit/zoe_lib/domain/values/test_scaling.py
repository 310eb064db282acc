"""Scaling rules settle under any load."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoe_lib.domain.values.scaling import ScalingHistory, ScalingRule

CPU = ScalingRule(minimum=1, maximum=50, cpu=0.7, interval_s=10.0, calm_s=60.0)
AMOUNT = ScalingRule(minimum=2, maximum=50, port="http", per_instance=10.0, interval_s=10.0, calm_s=60.0)


def run(rule: ScalingRule, present: int, loads: list[float]) -> list[int]:
    """The number of instances after each look, when all that are wanted run at once; a load is work in cores, or an
    amount.
    """
    settling, found = ScalingHistory(0.0), []
    for look, load in enumerate(loads):
        measured = load if rule.cpu is None else min(load / present, 1.0)
        present = settling.next_count(rule, 1.0 + look * rule.interval_s, present, rule.wanted_count(present, measured))
        found.append(present)
    return found


@pytest.mark.parametrize("rule", [CPU, AMOUNT])
@given(present=st.integers(1, 50), load=st.floats(0, 1000, allow_nan=False))
def test_a_steady_load_brings_a_number_that_stays_and_is_enough(rule: ScalingRule, present: int, load: float) -> None:
    found = run(rule, max(present, rule.minimum), [load] * 60)
    assert len(set(found[20:])) == 1
    last = found[-1]
    assert rule.minimum <= last <= rule.maximum
    if last < rule.maximum:
        each = load / last
        assert each <= (rule.per_instance if rule.cpu is None else 0.7 * 1.1) + 1e-6
    if last > max(rule.minimum, 2, present):
        assert load / (last - 1) > (rule.per_instance if rule.cpu is None else 0.7) - 1e-6


@pytest.mark.parametrize("rule", [CPU, AMOUNT])
@given(present=st.integers(2, 50), load=st.floats(1, 400), noise=st.lists(st.floats(0.8, 1.0), min_size=1, max_size=6))
def test_noise_that_comes_again_and_again_changes_nothing_in_the_end(
    rule: ScalingRule, present: int, load: float, noise: list[float]
) -> None:
    found = run(rule, present, [load * noise[look % len(noise)] for look in range(80)])
    assert len(set(found[30:])) == 1


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_it_at_most_doubles_and_never_stops_one_before_it_was_calm(loads: list[float]) -> None:
    found = [5, *run(AMOUNT, 5, loads)]
    for before, after in pairwise(found):
        assert after <= max(2 * before, before + 4)
    assert all(after >= before for before, after in pairwise(found[:6]))


def test_the_calm_begins_anew_after_a_silence() -> None:
    """What was needed while nothing could be measured is not known."""
    for silence in (lambda history: history.note_silence("refused"), lambda _: None):
        history, rule, now_s = ScalingHistory(0.0), AMOUNT, 0.0
        for now_s in (70.0, 80.0):
            assert history.next_count(rule, now_s, 5, 5) == 5
        silence(history)
        assert history.is_blind(rule, now_s + 31.0)
        back_s = now_s + 200.0
        for later_s in (0.0, 10.0, 50.0):
            assert history.next_count(rule, back_s + later_s, 5, 2) == 5
            assert not history.is_blind(rule, back_s + later_s)
        assert history.next_count(rule, back_s + 60.0, 5, 2) == 2


def test_growth_does_not_wait_for_the_calm() -> None:
    history = ScalingHistory(0.0)
    history.note_silence("refused")
    assert history.next_count(AMOUNT, 500.0, 5, 8) == 8


def test_a_burst_is_met_and_given_back() -> None:
    found = run(AMOUNT, 2, [0.0] * 10 + [200.0] * 5 + [0.0] * 10)
    assert found[9] == 2
    assert found[10:13] == [6, 12, 20]
    assert found[14:20] == [20] * 6
    assert found[-1] == 2
