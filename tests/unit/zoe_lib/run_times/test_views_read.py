"""Runs through views and runs that read plainly teach how much either way reads."""

from __future__ import annotations

import pytest

from zoe_lib.domain.values.frozen import changed
from zoe_lib.run_times.kind import RunsOfKind
from zoe_lib.run_times.values import RunSample, RunSetting

MB = 1e6


def read(megabytes: float, views: bool | None, share: float | None = None) -> RunSample:
    """A run that reads at 10 MB/s, and computes 2 s and 0.01 s for each megabyte."""
    work_s = max(2.0 + 0.01 * megabytes, megabytes / 10)
    setting = RunSetting(4.0, megabytes * MB, 10 * MB, views=views)
    return RunSample(setting, 1.0, work_s, busy=min((2.0 + 0.01 * megabytes) / work_s, 1.0), share=share)


def of(*samples: RunSample) -> RunsOfKind:
    runs = RunsOfKind()
    for number, sample in enumerate(samples):
        runs.add(sample, f"r{number}")
    return runs


def expected_s(runs: RunsOfKind, views: bool | None) -> float:
    return runs.expected_s(RunSetting(4.0, views=views))


def test_each_way_is_expected_to_take_what_its_own_runs_took() -> None:
    runs = of(*(read(*item) for item in ((600, False), (60, True)) * 4))
    assert runs.ways_to_read() == {True, False}
    assert expected_s(runs, False) == pytest.approx(61, rel=0.05)
    assert expected_s(runs, True) == pytest.approx(7, rel=0.05)


def test_a_sample_tells_what_a_view_would_read_that_was_never_used() -> None:
    runs = of(*(read(600, False, share=0.25) for _ in range(4)))
    assert runs.ways_to_read() == {True, False}
    assert expected_s(runs, True) == pytest.approx(16, rel=0.05)


def test_runs_through_views_say_nothing_of_plain_ones() -> None:
    """The computing time for data that these runs never had is unknown."""
    runs = of(*(read(60, True, share=0.1) for _ in range(4)))
    assert runs.ways_to_read() == {True}


@pytest.mark.parametrize("sample", [read(600, None), changed(read(600, False), setting=RunSetting(4.0, views=False))])
def test_unmeasured_reads_teach_no_way_to_read(sample: RunSample) -> None:
    runs = of(*[sample] * 4)
    assert not runs.ways_to_read() - {False}
    assert expected_s(runs, True) == pytest.approx(expected_s(runs, None))
