"""One odd run moves what is expected of the next one by less than two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.nearest import RunTimesByProgram
from zoe_lib.run_times.values import RunSample, RunSetting

KIND = ("t", "u", "a:1")
SETTING = RunSetting(4.0)
USUAL = st.floats(100.0, 110.0)
ODD = st.floats(1.0, 1e6)


@st.composite
def runs_with_an_odd_one(draw: st.DrawFn) -> list[tuple[bool, float]]:
    """Return run times in order, and which of them is the odd one."""
    usual = draw(st.lists(USUAL, min_size=13, max_size=40))
    place = draw(st.integers(4, len(usual)))
    return [*((False, each_s) for each_s in usual[:place]), (True, draw(ODD)), *((False, s) for s in usual[place:])]


def p90_s(run_s: list[float]) -> float:
    times = RunTimes()
    for number, each_s in enumerate(run_s):
        times.predict_submitted(str(number), KIND, SETTING)
        times.learn(str(number), KIND, RunSample(SETTING, 0.0, each_s))
    answer = times.answer(KIND, SETTING)
    assert answer is not None
    return answer.p90_s


@given(runs_with_an_odd_one())
def test_one_odd_run_moves_p90_by_less_than_two(runs: list[tuple[bool, float]]) -> None:
    without, with_it = p90_s([s for odd, s in runs if not odd]), p90_s([s for _, s in runs])
    assert without / 2 < with_it < without * 2


@given(runs_with_an_odd_one())
def test_one_odd_run_moves_the_run_time_of_the_order_by_less_than_two(runs: list[tuple[bool, float]]) -> None:
    kind = (*KIND, 0, 0)
    known, without = RunTimesByProgram(), RunTimesByProgram()
    for odd, run_s in runs:
        known.learn(kind, run_s)
        if not odd:
            without.learn(kind, run_s)
    before_s, after_s = without.expected_s(kind), known.expected_s(kind)
    assert before_s is not None
    assert after_s is not None
    assert before_s / 2 < after_s < before_s * 2
