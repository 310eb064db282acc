"""Runs of Spark: executors start before anything is read, so that part adds to reading, too."""

from __future__ import annotations

import random

import pytest

from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.kind import RunsOfKind
from zoe_lib.run_times.model import fit_model
from zoe_lib.run_times.values import RunSample, RunSetting

MB = 1e6
BYTES, LEAD_S, SHARED_S = 44 * MB, 20.0, 10.0
CORES, RATES = (0.5, 1.0, 1.5), (None, 3 * MB, 6 * MB)
FREE = 1.5 * MB


def taken(cores: float, rate: float) -> float:
    return LEAD_S + max(SHARED_S / cores, BYTES / rate)


def runs(noise: float = 0.03) -> list[RunSample]:
    """Return the measured runs: with a rate only where the run waited for the store."""
    draw = random.Random(7)
    found = []
    for cores in CORES:
        for guaranteed in RATES:
            rate = guaranteed or FREE
            work_s = taken(cores, rate) * draw.uniform(1 - noise, 1 + noise)
            reads_s, computes_s = BYTES / rate, SHARED_S / cores
            waits = reads_s > computes_s
            setting = RunSetting(cores, BYTES, rate if waits else None, guaranteed)
            found.append(RunSample(setting, 8.0, work_s, 1 - (reads_s if waits else 1.0) / work_s))
    return found


@pytest.mark.parametrize("cores", CORES)
@pytest.mark.parametrize("rate", [FREE, 3 * MB, 6 * MB])
def test_start_before_reading_adds_to_the_run_time(cores: float, rate: float) -> None:
    model = fit_model(runs())
    assert model.run_s(RunSetting(cores, BYTES, rate)) - 8.0 == pytest.approx(taken(cores, rate), rel=0.12)


def test_a_setting_that_was_left_out_is_told() -> None:
    known = [run for run in runs() if (run.setting.cores, run.setting.guaranteed) != (1.0, 3 * MB)]
    found = fit_model(known).run_s(RunSetting(1.0, BYTES, 3 * MB)) - 8.0
    assert found == pytest.approx(taken(1.0, 3 * MB), rel=0.15)


def test_runs_with_one_rate_show_no_lead() -> None:
    assert fit_model([run for run in runs() if run.setting.guaranteed is None]).lead_s == 0.0


def test_without_a_guarantee_a_run_gets_what_others_got_without_one() -> None:
    """Runs with a guarantee seem to get more than that, since bursts pass at once; these bursts are not lent
    bandwidth.
    """
    kind = RunsOfKind()
    for number, rate in enumerate([FREE, FREE, *[20 * MB] * 9]):
        guaranteed = None if rate == FREE else 6 * MB
        kind.add(RunSample(RunSetting(0.5, BYTES, rate, guaranteed), 8.0, 40.0, 0.5), str(number))
    assert kind.expectation().fill_in(RunSetting(0.5)).rate == FREE
    assert kind.expectation().fill_in(RunSetting(0.5, guaranteed=3 * MB)).rate == 3 * MB


def test_guaranteed_runs_that_hardly_waited_for_the_store_count_for_guarantees() -> None:
    """Ten runs have a quantile of their own at 90 %, though the store was too fast for some to show its rate."""
    times = RunTimes()
    for number in range(10):
        rate = None if number % 2 else 6 * MB
        setting = RunSetting(0.5, BYTES, rate, 6 * MB)
        times.learn(str(number), ("t", "u", "job"), RunSample(setting, 8.0, 40.0 + number % 3, 0.5))
    told = times.within_s(("t", "u", "job"), RunSetting(0.5, rate=6 * MB, guaranteed=6 * MB), 0.9)
    assert told is not None
    assert told < 60.0, "and not a rule of thumb, which is three times as much"
