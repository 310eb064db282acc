"""Rivals of promises, each on a small case whose right answer is known by hand."""

from __future__ import annotations

import math

import pytest

from lab.promises.applications import ApplicationWork, StudyApplication
from lab.promises.rivals.base import Rival, RivalApplication, RivalView, numbers
from lab.promises.rivals.elasticflow import ElasticFlowLike
from lab.promises.rivals.rayon import RayonLike
from lab.promises.rivals.run import RivalRun
from lab.promises.rivals.threesigma import ThreeSigmaLike, chance_within
from lab.promises.workload import NodeFailure


def app(
    number: int, at_s: float = 0.0, in_s: float = math.inf, total: int = 64, run_s: float = 100.0
) -> StudyApplication:
    """All cores for 100 s, a quarter of them essential: with these alone it takes 400 s."""
    return StudyApplication(
        number, f"k{number}", at_s, run_s, max(total // 4, 1), total, 0.0, 0.0, run_s, deadline_s=at_s + in_s
    )


def told(one: StudyApplication, services: int, chance: float) -> float:
    """The median is the truth; less likely times are longer."""
    return one.computing_s(services) * (1.0 + max(chance - 0.5, 0.0))


def view(*waiting: StudyApplication, now_s: float = 0.0, running: tuple[RivalApplication, ...] = ()) -> RivalView:
    return RivalView(now_s, 64, tuple(map(RivalApplication, waiting)), running, told)


def run(
    rival: Rival, *apps: StudyApplication, failures: tuple[NodeFailure, ...] = ()
) -> tuple[dict[int, float], list[int]]:
    found = RivalRun(apps, rival, failures)
    found.run()
    return {end.application.number: end.end_s for end in found.outcome.ends}, [
        application.number for application in found.outcome.refused
    ]


def test_numbers_of_services_are_as_in_promises() -> None:
    assert numbers(app(0, total=16)) == [4, 5, 6, 8, 12, 16]


@pytest.mark.parametrize("rival", [RayonLike, ElasticFlowLike, ThreeSigmaLike])
def test_one_alone_gets_all_cores(rival: type[Rival]) -> None:
    assert run(rival(), app(0, 5.0, 500.0)) == ({0: pytest.approx(105.0)}, [])


@pytest.mark.parametrize("rival", [RayonLike, ElasticFlowLike, ThreeSigmaLike])
def test_work_that_lost_an_essential_service_begins_anew(rival: type[Rival]) -> None:
    """n0 holds its first services; with 56 of 64 cores it takes 114.3 s from then on."""
    ends, _ = run(rival(), app(0, 0.0, 1000.0), failures=(NodeFailure("n0", 50.0, 5000.0),))
    assert ends[0] == pytest.approx(50.0 + 100.0 * 64 / 56, rel=0.01)


def test_rayon_reserves_the_fewest_cores_as_late_as_possible() -> None:
    rival = RayonLike()
    assert rival.admits(RivalApplication(app(0, in_s=1000.0)), view())
    assert rival.next_s(0.0) == pytest.approx(600.0), "16 cores take 400 s"


def test_rayon_refuses_what_finds_no_room_in_the_plan() -> None:
    """Two of 100 s with all cores do not end within 150 s, but three with a quarter each end within 450 s."""
    assert run(RayonLike(), app(0, 0.0, 101.0), app(1, 0.0, 150.0))[1] == [1]
    ends, refused = run(RayonLike(), *(app(n, 0.0, 450.0) for n in range(4)))
    assert refused == []
    assert max(ends.values()) <= 450.0


def test_rayon_starts_no_other_work_in_the_way_of_a_reservation() -> None:
    """An execution that needs 16 cores for 400 s would be in the way of one with all of them from 300 s on."""
    rival = RayonLike()
    rigid = StudyApplication(0, "rigid", 0.0, 100.0, 64, 64, 0.0, 0.0, 100.0, deadline_s=401.0)
    reserved = RivalApplication(rigid)
    assert rival.admits(reserved, view())
    running = RivalApplication(app(2, total=8), ApplicationWork(app(2, total=8), 0.0, running=2))
    wanted = rival.decide(RivalView(0.0, 64, (reserved, RivalApplication(app(1))), (running,), told))
    assert 1 not in wanted


def test_elasticflow_gives_the_least_share_that_meets_each_deadline() -> None:
    """Each needs 6,400 core-seconds: within 200 s that is half of the cores, so two have room and a third has none."""
    first, second, third = (app(n, in_s=200.0) for n in range(3))
    rival = ElasticFlowLike()
    assert rival.admits(RivalApplication(second), view(first))
    assert not rival.admits(RivalApplication(third), view(first, second))
    assert rival.decide(view(first, second)) == {0: 32, 1: 32}


def test_elasticflow_uses_later_slots() -> None:
    """The second has all cores after the first: it needs no share before 100 s."""
    first, second = app(0, in_s=100.0), app(1, in_s=200.0)
    assert ElasticFlowLike().admits(RivalApplication(second), view(first))
    assert ElasticFlowLike().decide(view(first, second)) == {0: 64}


def test_elasticflow_gives_the_rest_to_what_it_shortens_most() -> None:
    wanted = ElasticFlowLike().decide(view(app(0, in_s=1000.0, total=4), app(1, in_s=1000.0, total=64)))
    assert wanted[0] == 4
    assert wanted[1] == 60


def test_threesigma_prefers_what_loses_most_by_waiting() -> None:
    """The first can wait, the second cannot, and for the third it is too late."""
    relaxed, tight, hopeless = app(0, in_s=10_000.0), app(1, in_s=130.0), app(2, in_s=10.0)
    wanted = ThreeSigmaLike().decide(view(relaxed, tight, hopeless))
    assert wanted == {1: 64}


def test_threesigma_reads_chances_between_quantiles() -> None:
    one = app(0)
    assert chance_within(one, 64, 40.0, view()) == 0.0
    assert chance_within(one, 64, 75.0, view()) == pytest.approx(0.25)
    assert chance_within(one, 64, 115.0, view()) == pytest.approx(0.65)
    assert chance_within(one, 64, 1000.0, view()) == 0.99


def test_threesigma_refuses_nothing() -> None:
    ends, refused = run(ThreeSigmaLike(), app(0, 0.0, 110.0), app(1, 0.0, 110.0))
    assert refused == []
    assert sorted(ends) == [0, 1]
