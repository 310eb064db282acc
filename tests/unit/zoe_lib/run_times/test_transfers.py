"""Read bytes predict other sizes and rates, beside runs with unknown bytes."""

from __future__ import annotations

import pytest

from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.kind import RunsOfKind
from zoe_lib.run_times.model import fit_model
from zoe_lib.run_times.values import RunSample, RunSetting

MB = 1e6
KIND = ("t", "u", "a")


def read(
    megabytes: float, rate: float, *, compute_s: float = 2.0, guaranteed: float | None = None, cores: float = 4.0
) -> RunSample:
    """A run that reads and computes at the same time."""
    reading_s = megabytes / rate
    work_s = max(compute_s, reading_s)
    setting = RunSetting(cores, megabytes * MB, rate * MB, None if guaranteed is None else guaranteed * MB)
    return RunSample(setting, 1.0, work_s, busy=min(compute_s / work_s, 1.0))


def unknown(work_s: float, cores: float = 4.0) -> RunSample:
    return RunSample(RunSetting(cores), 1.0, work_s)


def of(*samples: RunSample) -> RunsOfKind:
    runs = RunsOfKind()
    for number, sample in enumerate(samples):
        runs.add(sample, f"r{number}")
    return runs


def test_predictions_answer_for_another_rate_and_size() -> None:
    runs = of(*(read(600, 10, guaranteed=10) for _ in range(4)))
    asked = RunSetting(4.0, guaranteed=10 * MB)
    assert runs.expected_s(asked) == pytest.approx(61, rel=0.05)
    assert runs.expected_s(RunSetting(4.0, guaranteed=30 * MB)) == pytest.approx(21, rel=0.05)
    assert runs.expected_s(RunSetting(4.0, delivered_bytes=60 * MB, guaranteed=10 * MB)) == pytest.approx(7, rel=0.1)
    assert runs.expected_s(RunSetting(4.0, rate=1 * MB)) == pytest.approx(601, rel=0.05)
    assert runs.expected_s(RunSetting(4.0, guaranteed=10_000 * MB)) == pytest.approx(3, rel=0.1), "it computes, too"


@pytest.mark.parametrize("number", [3, 20])
def test_runs_of_which_it_is_unknown_work_beside_others(number: int) -> None:
    """They took as long, since they read as much as at the same rate."""
    runs = of(*(unknown(60.0) for _ in range(number)))
    assert runs.expected_s(RunSetting(4.0, guaranteed=30 * MB)) == pytest.approx(61, rel=0.05), "nothing is known"
    for index in range(8):
        runs.add(read(600, 10, guaranteed=10), f"k{index}")
    runs.model = fit_model(tuple(runs.samples))
    assert runs.expected_s(RunSetting(4.0, guaranteed=10 * MB)) == pytest.approx(61, rel=0.05)
    assert runs.expected_s(RunSetting(4.0, guaranteed=30 * MB)) == pytest.approx(21, rel=0.1)
    for _ in range(9):
        runs.add(unknown(60.0))
    assert runs.expected_s(RunSetting(4.0, guaranteed=10 * MB)) == pytest.approx(61, rel=0.1)


def test_one_unknown_run_among_the_newest_does_not_break_anything() -> None:
    runs = of(*(read(600, 10, guaranteed=10) for _ in range(6)), unknown(60.0), read(600, 10, guaranteed=10))
    assert runs.expected_s(RunSetting(4.0, guaranteed=10 * MB)) == pytest.approx(61, rel=0.1)


def test_a_guarantee_is_the_least_where_runs_usually_get_more() -> None:
    """Readers with a small guarantee that were lent ten times as much are expected to be lent it again."""
    runs = of(*(read(600, 10, guaranteed=1) for _ in range(4)))
    assert runs.expected_s(RunSetting(4.0, guaranteed=1 * MB)) == pytest.approx(61, rel=0.05)
    assert runs.expected_s(RunSetting(4.0, guaranteed=2 * MB)) == pytest.approx(61, rel=0.05)
    assert runs.expected_s(RunSetting(4.0)) == pytest.approx(61, rel=0.05)
    assert runs.expected_s(RunSetting(4.0, guaranteed=60 * MB)) == pytest.approx(11, rel=0.05)
    assert runs.expected_s(RunSetting(4.0, rate=1 * MB)) == pytest.approx(601, rel=0.05), "asked to count on no more"


def test_without_a_guarantee_no_more_than_the_slowest_is_expected_of_those_that_were_bound_by_theirs() -> None:
    runs = of(*(read(600, rate, guaranteed=rate) for rate in (10, 20, 20, 30)))
    assert runs.expectation().fill_in(RunSetting(4.0)).rate == 10 * MB


def test_programs_that_only_compute_do_not_depend_on_the_rate() -> None:
    runs = of(*(read(10, 100, compute_s=50.0) for _ in range(4)))
    for rate in (20.0, 1000.0):
        assert runs.expected_s(RunSetting(4.0, rate=rate * MB)) == pytest.approx(51, rel=0.05)


def test_sizes_that_hardly_differ_are_one_size() -> None:
    runs = of(*(read(600 + number / 100, 1000, compute_s=50.0) for number in range(6)))
    assert runs.expected_s(RunSetting(4.0, delivered_bytes=1200 * MB)) == pytest.approx(51, rel=0.05)


def test_amended_run_replaces_its_sample() -> None:
    times = RunTimes()
    for number in range(4):
        times.learn(f"r{number}", KIND, unknown(60.0))
    fast = RunSetting(4.0, guaranteed=60 * MB)
    before = times.answer(KIND, fast)
    assert before is not None
    assert before.expected_s == pytest.approx(61)
    for number in range(4):
        assert times.amend(f"r{number}", KIND, read(600, 10, guaranteed=10))
    after = times.answer(KIND, fast)
    assert after is not None
    assert (after.samples, after.expected_s) == (4, pytest.approx(11, rel=0.05))
    assert not times.amend("stranger", KIND, unknown(1.0))
    assert not times.amend("r1", ("t", "u", "other"), unknown(1.0))


def test_amendments_of_many_runs_are_fitted_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = of(*(unknown(60.0) for _ in range(64)))
    fits = []
    monkeypatch.setattr("zoe_lib.run_times.kind.fit_model", lambda samples: fits.append(1) or fit_model(samples))
    for number in range(64):
        runs.amend(f"r{number}", read(600, 10))
        runs.amend(f"r{number}", read(600, 10))
    assert len(fits) <= 64 // 5
