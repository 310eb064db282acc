"""The generator draws from the published distributions, and the same again for the same seed."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import mean

import pytest

from zoe_simulator.formats.swf import read_swf, swf_lines
from zoe_simulator.jobs import Job
from zoe_simulator.lublin import ALL, BATCH, INTERACTIVE, generate

MANY = 20_000


@pytest.fixture(scope="module")
def jobs() -> tuple[Job, ...]:
    return generate(MANY, 128, seed=7).jobs


def share(jobs: tuple[Job, ...], wanted: object) -> float:
    return sum(map(wanted, jobs)) / len(jobs)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_jobs_and_another_one_others() -> None:
    assert generate(50, 64, 1) == generate(50, 64, 1)
    assert generate(50, 64, 1).jobs != generate(50, 64, 2).jobs


def test_sizes_are_serial_and_powers_of_two_as_often_as_published(jobs: tuple[Job, ...]) -> None:
    assert share(jobs, lambda j: j.processors == 1) == pytest.approx(ALL.serial, abs=0.01)
    # Other parallel sizes round to powers of two now and then, so this share is somewhat larger.
    powers = share(jobs, lambda j: j.processors > 1 and math.log2(j.processors).is_integer())
    assert 0 <= powers - ALL.power_of_two < 0.08
    assert max(j.processors for j in jobs) <= 128


def test_run_times_are_hyper_gamma_whose_mixture_depends_on_the_size(jobs: tuple[Job, ...]) -> None:
    """Serial jobs: the mean logarithm is that of the mixture, less the truncation at e^12 and rounding."""
    short = ALL.short_share[0] + ALL.short_share[1]
    expected = short * math.prod(ALL.run_short) + (1 - short) * math.prod(ALL.run_long)
    serial = [math.log(j.run_s) for j in jobs if j.processors == 1]
    assert mean(serial) == pytest.approx(expected, abs=0.2)
    large = [math.log(j.run_s) for j in jobs if j.processors >= 64]
    assert mean(large) > mean(serial) + 0.5
    assert max(j.run_s for j in jobs) <= math.exp(12)


def test_more_jobs_come_at_noon_than_at_night(jobs: tuple[Job, ...]) -> None:
    noon = share(jobs, lambda j: 10 <= j.submit_s % 86400 // 3600 < 16)
    night = share(jobs, lambda j: 0 <= j.submit_s % 86400 // 3600 < 6)
    assert noon > 3 * night
    assert [j.submit_s for j in jobs] == sorted(j.submit_s for j in jobs)


def test_requests_are_up_to_the_factor_too_long() -> None:
    ratios = [j.request_s / j.run_s for j in generate(5000, 64, 3, overestimate=4.0).jobs if j.run_s > 1000]
    assert min(ratios) >= 1
    assert max(ratios) <= 5.001
    assert mean(ratios) == pytest.approx(3.0, abs=0.1)
    assert all(j.request_s == j.run_s for j in generate(100, 64, 3).jobs)


def test_kinds_arrive_beside_each_other() -> None:
    made = generate(5000, 128, 1, kinds=(BATCH, INTERACTIVE)).jobs
    assert {j.user for j in made} == {"batch", "interactive"}
    assert [j.id for j in made] == list(range(1, 5001))
    batch = [j.run_s for j in made if j.user == "batch"]
    interactive = [j.run_s for j in made if j.user == "interactive"]
    assert mean(batch) > mean(interactive)


def test_written_trace_is_read_back(tmp_path: Path) -> None:
    trace = generate(200, 64, 5, overestimate=2.0)
    path = tmp_path / "made.swf"
    path.write_text("\n".join(swf_lines(trace, "a note")))
    again = read_swf(path)
    assert again.nodes == trace.nodes
    values = [(j.id, j.submit_s, j.run_s, j.request_s, j.processors) for j in again.jobs]
    assert values == [(j.id, j.submit_s, j.run_s, j.request_s, j.processors) for j in trace.jobs]
