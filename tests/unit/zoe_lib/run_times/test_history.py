"""Chances come true, for kinds with many runs and with few, and while run times drift."""

from __future__ import annotations

import math
import random

import pytest

from zoe_lib.run_times import history
from zoe_lib.run_times.history import FEW, RunTimes
from zoe_lib.run_times.spread import CHANCES, nearest_chance
from zoe_lib.run_times.values import RunSample, RunSetting

SETTING = RunSetting(4.0)


def learn(times: RunTimes, run_s: float, kind: tuple[str, str, str] = ("t", "u", "a"), run_id: str = "") -> None:
    times.learn(run_id, kind, RunSample(SETTING, 0.0, run_s))


def test_without_a_run_nothing_is_said() -> None:
    times = RunTimes()
    assert times.answer(("t", "u", "a"), SETTING) is None
    assert times.within_s(("t", "u", "a"), SETTING, 0.9) is None
    learn(times, 100)
    assert times.answer(("t", "u", "other"), SETTING) is None


def test_few_runs_are_wide() -> None:
    times = RunTimes()
    learn(times, 100)
    first = times.answer(("t", "u", "a"), SETTING)
    assert first is not None
    assert (first.samples, first.wide) == (1, True)
    assert first.p90_s == pytest.approx(300)
    for _ in range(FEW):
        learn(times, 100)
    still = times.answer(("t", "u", "a"), SETTING)
    assert still is not None
    assert still.wide, "nine of ten cannot be told from five"
    for _ in range(4):
        learn(times, 100)
    later = times.answer(("t", "u", "a"), SETTING)
    assert later is not None
    assert not later.wide
    assert later.p90_s == pytest.approx(100)
    elsewhere = times.answer(("t", "u", "a"), RunSetting(16.0))
    assert elsewhere is not None
    assert elsewhere.wide


@pytest.mark.parametrize(("kinds", "drift"), [(3, 0.02), (1000, 0.0)])
def test_chances_come_true(kinds: int, drift: float) -> None:
    """Ten runs are submitted at once, so none of them has taught the others."""
    draw, times = random.Random(kinds), RunTimes()
    usual = [draw.uniform(20, 5000) for _ in range(kinds)]
    kept = dict.fromkeys(CHANCES, 0)
    asked = 0
    for turn in range(600):
        which = draw.randrange(kinds)
        kind = ("t", "u", str(which))
        for run in range(10):
            times.predict_submitted(f"{turn}-{run}", kind, SETTING)
        told = {value: times.within_s(kind, SETTING, value) for value in CHANCES}
        for run in range(10):
            run_s = usual[which] * math.exp(draw.gauss(0, 0.5))
            for chance, most_s in told.items():
                kept[chance] += most_s is not None and run_s <= most_s
            asked += told[0.5] is not None
            learn(times, run_s, kind, f"{turn}-{run}")
        usual[which] *= math.exp(drift)
    assert asked > 3000 or kinds > 3
    for chance, held in kept.items():
        assert held / asked == pytest.approx(chance, abs=0.03), chance


def test_a_run_that_taught_nothing_is_forgotten() -> None:
    times = RunTimes()
    learn(times, 100)
    times.predict_submitted("x", ("t", "u", "a"), SETTING)
    times.discard("x")
    assert not times._told


def test_learned_kinds_and_predictions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KINDS_MAX", 50)
    monkeypatch.setattr(history, "TOLD_MAX", 60)
    times = RunTimes()
    for number in range(55):
        learn(times, 10, ("t", "u", str(number)))
    assert times.answer(("t", "u", "0"), SETTING) is None
    assert times.answer(("t", "u", "50"), SETTING) is not None
    for number in range(65):
        times.predict_submitted(str(number), ("t", "u", "50"), SETTING)
    assert len(times._told) == 60


def test_a_chance_is_rounded_up() -> None:
    assert [nearest_chance(value) for value in (0.1, 0.5, 0.81, 0.9, 0.991)] == [0.5, 0.5, 0.9, 0.9, 0.99]


def test_runs_that_were_submitted_together_are_not_judged_by_what_they_were_told() -> None:
    """The first run was slow, and thirty others were predicted from it."""
    times, kind = RunTimes(), ("t", "u", "a")
    learn(times, 8.0, kind, "first")
    for number in range(30):
        times.predict_submitted(str(number), kind, SETTING)
    for number in range(30):
        learn(times, 6.0 + number % 3 / 20, kind, str(number))
    answer = times.answer(kind, SETTING)
    assert answer is not None
    assert 5.95 < answer.p50_s < 6.1
    assert 6.05 < answer.p90_s < 6.5


def contended(times: RunTimes, number: int, cores: float, rate: float) -> None:
    """Told for 8 cores; it computes 800 core-seconds, and reads 1 GB at this rate."""
    kind, asked = ("t", "u", "a"), RunSetting(8.0)
    times.predict_submitted(str(number), kind, asked)
    computes_s, reads_s = 800.0 / cores, 1e9 / rate
    work_s = max(computes_s, reads_s)
    sample = RunSample(RunSetting(cores, 1e9, rate), 0.0, work_s, computes_s / work_s)
    times.learn(str(number), kind, sample)


def test_contention_of_past_runs_does_not_widen_a_guaranteed_forecast() -> None:
    """Runs got any number of cores and any rate: with both known beforehand, they are exact."""
    times, chance = RunTimes(), random.Random(5)
    for number in range(60):
        contended(times, number, chance.choice([1.0, 2.0, 4.0, 8.0]), chance.choice([1e6, 2e6, 5e6, 2e7]))
    sure = times.within_s(("t", "u", "a"), RunSetting(8.0, rate=5e6, guaranteed=5e6), 0.9)
    assert sure == pytest.approx(200.0, rel=0.05)
    unsure = times.within_s(("t", "u", "a"), RunSetting(8.0), 0.9)
    assert unsure is not None
    assert unsure > 2 * sure, "at which rate it will read is not known then"
    plain = times.answer(("t", "u", "a"), RunSetting(8.0))
    assert plain is not None
    assert plain.p90_s >= unsure, "nor are the cores, when nothing is guaranteed"


def test_rates_that_are_known_later_are_judged_then() -> None:
    """The read bytes are known some seconds after the end; until then, the run says nothing of rates."""
    times, kind = RunTimes(), ("t", "u", "a")
    for number in range(40):
        rate = (1e6, 4e6)[number % 2]
        times.predict_submitted(str(number), kind, RunSetting(4.0))
        times.learn(str(number), kind, RunSample(RunSetting(4.0), 0.0, 1e9 / rate))
        assert times.amend(str(number), kind, RunSample(RunSetting(4.0, 1e9, rate), 0.0, 1e9 / rate, 0.01))
    assert times.within_s(kind, RunSetting(4.0, rate=4e6), 0.9) == pytest.approx(250.0, rel=0.05)


def test_a_burst_of_runs_that_miss_together_does_not_make_all_others_long() -> None:
    """Fifty runs of one kind take twenty times their prediction; another kind's are all alike."""
    times = RunTimes()
    for number in range(12):
        times.learn(f"a{number}", ("t", "u", "alike"), RunSample(RunSetting(1.0), 0.1, 3.0))
        times.learn(f"b{number}", ("t", "u", "burst"), RunSample(RunSetting(1.0), 0.1, 3.0))
    for number in range(50):
        times.predict_submitted(f"c{number}", ("t", "u", "burst"), RunSetting(1.0))
    for number in range(50):
        times.learn(f"c{number}", ("t", "u", "burst"), RunSample(RunSetting(1.0), 0.1, 60.0))
    told = [times.within_s(("t", "u", "alike"), RunSetting(1.0), chance) or 0.0 for chance in CHANCES]
    assert told == sorted(told)
    assert told[CHANCES.index(0.9)] < 3 * 3.2, "its own runs tell it"


def test_names_of_one_user_push_out_only_what_others_no_longer_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KINDS_MAX", 50)
    times = RunTimes()
    daily, yearly = ("t", "ann", "daily"), ("t", "ann", "yearly")
    for kind in (daily, yearly):
        for _ in range(FEW):
            learn(times, 100, kind)
    for number in range(200):
        learn(times, 1, ("t", "eve", f"name-{number}"))
        if number % 20 == 0:
            learn(times, 100, daily)
    known = times.answer(daily, SETTING)
    assert known is not None
    assert known.p50_s == pytest.approx(100)
    assert times.answer(yearly, SETTING) is None, "as before its first run: by its time limit"
