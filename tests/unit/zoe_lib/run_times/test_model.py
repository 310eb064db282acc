"""A model of known run times: it learns the terms and the rate of the store, and ignores outliers."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import median

import pytest

from zoe_lib.run_times.model import RunTimeModel, fit_model
from zoe_lib.run_times.terms import Term
from zoe_lib.run_times.values import RunSample, RunSetting

GIB = 2.0**30
MB = 1e6


def taken(setting: RunSetting) -> float:
    """A run of which nine tenths are shared."""
    size = (setting.delivered_bytes or 4 * GIB) / GIB
    computing = (300 + 60 * size) / setting.cores + 20 + 3 * math.log(setting.cores)
    return max(computing, 1.2 * size * GIB / (setting.rate or 1e12))


def runs(settings: Sequence[RunSetting], noise: float = 0.0, seed: int = 1) -> list[RunSample]:
    draw = random.Random(seed)
    return [RunSample(setting, 5.0, taken(setting) * math.exp(draw.gauss(0, noise))) for setting in settings]


def error(model: RunTimeModel, setting: RunSetting) -> float:
    return abs(math.log((model.run_s(setting) - 5.0) / taken(setting)))


def test_settings_that_were_never_run_are_within_a_tenth() -> None:
    """Half of the settings were never run; the noise of runs is 5 %."""
    every = [
        RunSetting(cores, size * GIB, rate)
        for cores in (1.0, 2.0, 4.0, 6.0, 8.0)
        for size in (1.0, 4.0, 8.0)
        for rate in (20 * MB, 100 * MB, None)
    ]
    for seed in range(5):
        draw = random.Random(seed)
        order = draw.sample(every, len(every))
        known, unseen = order[::2], order[1::2]
        model = fit_model(runs(known * 2, 0.05, seed))
        assert median(error(model, setting) for setting in unseen) < 0.1


def test_the_store_is_told_from_the_cores() -> None:
    model = fit_model(runs([RunSetting(c, 8 * GIB, r) for c in (2.0, 4.0, 8.0) for r in (10 * MB, 1000 * MB)], 0.02))
    slow, fast = (RunSetting(8.0, 8 * GIB, rate * MB) for rate in (10, 20))
    assert model.reading == pytest.approx(1.2, rel=0.05)
    assert model.run_s(slow) / model.run_s(fast) == pytest.approx(2.0, rel=0.05)
    assert model.run_s(RunSetting(8.0, 4 * GIB, 10 * MB)) == pytest.approx(model.run_s(fast), rel=0.01)


@pytest.mark.parametrize("factor", [0.001, 0.1, 10.0, 1000.0])
def test_one_odd_run_moves_nothing_far(factor: float) -> None:
    settings = [RunSetting(c, 4 * GIB) for c in (1.0, 2.0, 4.0, 8.0)] * 3
    good = runs(settings, 0.03)
    for place in (0, 5, len(good) - 1):
        odd = [*good]
        odd[place] = RunSample(odd[place].setting, 5.0, odd[place].work_s * factor)
        model = fit_model(odd)
        for cores in (1.0, 3.0, 8.0):
            assert error(model, RunSetting(cores, 4 * GIB)) < 0.25, (place, cores)


def test_unseen_settings_are_predicted_rather_too_long() -> None:
    same = fit_model([RunSample(RunSetting(4.0), 5.0, 100.0)] * 3)
    assert same.run_s(RunSetting(4.0)) == pytest.approx(105.0)
    assert same.run_s(RunSetting(2.0)) == pytest.approx(205.0)
    assert same.run_s(RunSetting(400.0)) == pytest.approx(105.0)
    two = fit_model(runs([RunSetting(2.0, 4 * GIB), RunSetting(4.0, 4 * GIB)] * 3))
    assert two.run_s(RunSetting(1.0)) >= taken(RunSetting(1.0)) * 0.99
    assert two.run_s(RunSetting(8.0)) == two.run_s(RunSetting(1000.0))
    assert not two.covers(RunSetting(8.0))
    assert two.covers(RunSetting(3.0))


def test_more_never_takes_longer_unless_cores_combine() -> None:
    """More bandwidth and fewer bytes never lengthen a run, whatever was seen."""
    for seed in range(100):
        draw = random.Random(seed)
        seen = [
            RunSample(
                RunSetting(
                    draw.choice([0.1, 1.0, 2.0, 16.0]),
                    draw.choice([None, 0.0, draw.uniform(0, 1e10)]),
                    draw.choice([None, draw.uniform(1, 1e9)]),
                ),
                draw.uniform(0, 10),
                draw.choice([0.0, draw.uniform(0, 1e4)]),
                draw.choice([None, 0.0, draw.random()]),
            )
            for _ in range(draw.randint(1, 100))
        ]
        model = fit_model(seen)
        for cores in (0.01, 1.0, 3.0, 100.0):
            times = [model.run_s(RunSetting(cores, 1e9, rate)) for rate in (1e6, 1e7, 1e8)]
            assert times == sorted(times, reverse=True)
            assert all(0 < time_ < math.inf for time_ in times)
            assert all(each >= 0 for _, each in model.coefficients)


def test_how_long_a_run_computed_shows_what_more_bandwidth_would_bring() -> None:
    held_back = RunSetting(4.0, 4 * GIB, 10 * MB)
    busy = fit_model([RunSample(held_back, 0.0, taken(held_back), busy=0.25)] * 3)
    unknown = fit_model([RunSample(held_back, 0.0, taken(held_back))] * 3)
    faster = RunSetting(4.0, 4 * GIB, 1000 * MB)
    assert busy.run_s(faster) == pytest.approx(taken(held_back) / 4, rel=0.01)
    assert unknown.run_s(faster) == pytest.approx(taken(held_back), rel=0.01)


def test_no_more_terms_than_settings() -> None:
    assert fit_model(runs([RunSetting(1.0)])).coefficients[0][0] is Term.FIXED
    assert len(fit_model(runs([RunSetting(1.0), RunSetting(2.0)])).coefficients) <= 2
