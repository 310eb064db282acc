"""Workloads of elastic applications: the make-up that is wanted, from seeds."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean, stdev

import pytest

from zoe_simulator.workload import MACHINE, arrivals, machines, rigid, with_errors

COUNT = 3000


def test_the_same_seed_draws_the_same_and_another_one_does_not() -> None:
    assert arrivals(1, 50, 0.9) == arrivals(1, 50, 0.9)
    assert arrivals(1, 50, 0.9) != arrivals(2, 50, 0.9)


def test_four_of_five_are_elastic_with_a_small_core_and_everybody_fits_the_cluster() -> None:
    made = arrivals(7, COUNT, 0.9)
    elastic = [arrival for arrival in made if arrival.core < arrival.total]
    assert len(elastic) / COUNT == pytest.approx(0.8, abs=0.03)
    assert {arrival.core for arrival in elastic} == {1, 2, 3, 4}
    assert max(arrival.total for arrival in made if arrival.core == arrival.total) <= 10
    cores = MACHINE.cores_milli * len(machines())
    assert max(arrival.total * arrival.component.cores_milli for arrival in made) <= cores / 2
    assert all(arrival.run_s >= 30 for arrival in made)
    assert all(arrival.deadline_s > arrival.submit_s + arrival.run_s for arrival in made)


@pytest.mark.parametrize("load", [0.5, 0.9])
def test_as_much_work_comes_as_is_asked_for(load: float) -> None:
    made = arrivals(3, COUNT, load)
    cores = MACHINE.cores_milli / 1000 * len(machines())
    assert sum(arrival.area for arrival in made) / (made[-1].submit_s * cores) == pytest.approx(load)
    assert [arrival.submit_s for arrival in made] == sorted(arrival.submit_s for arrival in made)


def test_errors_are_log_normal_and_only_wider_for_a_larger_sigma() -> None:
    made = arrivals(5, COUNT, 0.9)
    assert with_errors(made, 5, 0.0) == made
    narrow, wide = (
        [math.log(error.estimate_s / error.run_s) for error in with_errors(made, 5, sigma)] for sigma in (0.5, 1.0)
    )
    assert [2 * error for error in narrow] == pytest.approx(wide)
    assert (fmean(narrow), stdev(narrow)) == pytest.approx((0.0, 0.5), abs=0.03)


def test_rigid_ones_differ_in_nothing_but_their_core() -> None:
    made = arrivals(5, 50, 0.9)
    assert [replace(arrival, core=1) for arrival in rigid(made)] == [replace(arrival, core=1) for arrival in made]
    assert all(arrival.core == arrival.total for arrival in rigid(made))
