"""The study of promises: the store is shared as it is enforced, run times follow from work, services and bytes."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from lab.promises.applications import ApplicationWork, StudyApplication
from lab.promises.outcomes import StudyEnd, StudyOutcome
from lab.promises.run import RefusalReaction, RunRules, StoreRun
from lab.promises.store import GuaranteedStore
from lab.promises.workload import CAPACITY, CORES, NodeFailure, StudyCase, workload
from tests.support.needs import test_data
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.run_times.samples import sample_of
from zoe_simulator.stores.shared_store import max_min

MB = 10**6
POLICY = Policy(promise_offer_s=1.0, promise_share=1.0)


def app(number: int, at_s: float = 0.0, in_s: float = math.inf, **more: object) -> StudyApplication:
    """Four services, of which one is essential, compute for 100 s together."""
    values = {"run_s": 100.0, "core": 1, "total": 4, "serial": 0.0, "read_bytes": 0.0, "declared_s": 100.0, **more}
    return StudyApplication(number, f"k{number}", at_s, deadline_s=at_s + in_s, **values)  # type: ignore[arg-type]


def run(*apps: StudyApplication, rules: RunRules | None = None, **more: object) -> StoreRun:
    found = StoreRun(apps, rules or RunRules(POLICY), **more)  # type: ignore[arg-type]
    found.run()
    return found


def ends(found: StoreRun) -> dict[int, float]:
    return {end.application.number: end.end_s for end in found.outcome.ends}


def test_without_guarantees_shares_are_max_min() -> None:
    chance = random.Random(3)
    for _ in range(50):
        demands = {f"x{n}": chance.randrange(1, 200 * MB) for n in range(chance.randrange(1, 12))}
        found = GuaranteedStore(300 * MB).rates(demands, {})
        wanted = max_min(list(map(float, demands.values())), 300.0 * MB)
        assert list(found.values()) == pytest.approx(wanted, abs=20)


def test_shares_never_exceed_the_capacity_and_guarantees_come_first() -> None:
    chance = random.Random(4)
    for _ in range(50):
        demands = {f"x{n}": chance.randrange(1, 200 * MB) for n in range(8)}
        guaranteed = {f"x{n}": chance.randrange(1, 75 * MB) for n in range(4)}
        found = GuaranteedStore(300 * MB).rates(demands, guaranteed)
        assert sum(found.values()) <= 300 * MB
        for name, rate in found.items():
            assert rate <= demands[name] + 1
            assert rate >= min(guaranteed.get(name, 0), demands[name]) - 8


def test_a_case_computed_by_hand() -> None:
    """Both read 8 GB at 100 MB/s, so each gets 50. One computes 200 s and so uses 40; the other gets 60, and all after.

    A: 200 s at 40 MB/s. B: 200 s at 60 MB/s, which are all 12 GB of it.
    """
    found = run(
        app(0, run_s=200.0, read_bytes=8000.0 * MB),
        app(1, run_s=10.0, read_bytes=12_000.0 * MB),
        capacity=100 * MB,
    )
    assert ends(found) == pytest.approx({0: 200.0, 1: 200.0}, abs=0.1)


def test_run_time_is_what_takes_longer_computing_or_reading() -> None:
    one = app(0, serial=0.1, read_bytes=1000.0 * MB)
    assert one.computing_s(4) == pytest.approx(100.0)
    assert one.computing_s(1) == pytest.approx(100.0 * (0.1 + 0.9 * 4))
    assert one.takes_s(4, 5 * MB) == pytest.approx(200.0)
    assert one.takes_s(4, 50 * MB) == pytest.approx(100.0)


def test_all_bytes_are_read_once() -> None:
    apps = [app(n, 20.0 * n, read_bytes=n * 1000.0 * MB, run_s=30.0 + n) for n in range(8)]
    found = run(*apps, capacity=100 * MB)
    assert len(found.outcome.ends) == len(apps)
    executions = {execution.id: execution for execution in found.ended_executions()}
    for application in apps:
        moved = executions[f"a{application.number:06}"].transfers
        assert (moved.read_bytes if moved is not None else 0) == pytest.approx(application.read_bytes, abs=16)


def test_learned_sample_equals_the_run() -> None:
    """It is held back by the store: 1 GB at 5 MB/s take 200 s, in half of which its services compute."""
    found = run(app(0, read_bytes=1000.0 * MB), app(1, 1000.0), capacity=5 * MB)
    sample = sample_of(found.ended_executions()[0])
    assert sample is not None
    assert sample.work_s == pytest.approx(200.0, abs=0.1)
    assert sample.setting.cores == pytest.approx(4.0)
    assert sample.setting.rate == pytest.approx(5 * MB, rel=0.01)
    assert sample.busy == pytest.approx(0.5, abs=0.01)


def test_work_counts_its_waits_only_while_the_store_is_short() -> None:
    work = ApplicationWork(app(0, read_bytes=1000.0 * MB), 0.0, running=4, bandwidth=10.0 * MB, there=40.0 * MB)
    work.advance(50.0)
    assert (work.done, work.transferring_s, work.waiting_s) == pytest.approx((0.5, 12.5, 0.0))


def test_an_essential_service_that_is_lost_with_its_node_costs_all_work() -> None:
    """The first application runs on all nodes, so the loss of any of them ends its attempt at 50 s."""
    whole = app(0, core=64, total=64)
    found = run(whole, app(1, 400.0), failures=[NodeFailure("n3", 50.0, 60.0)])
    assert ends(found)[0] == pytest.approx(160.0, abs=2.0)


def test_a_promise_with_a_rate_is_kept_beside_others_that_read() -> None:
    """Five more read as much as they can; without its guarantee, a sixth of the store would be too little."""
    reads = 8000.0 * MB
    before = [StudyApplication(100 + n, "same", 400.0 * n, 100.0, 1, 4, 0.0, reads, 100.0) for n in range(12)]
    taught = run(*before, prefix="h", capacity=100 * MB).ended_executions()
    promised = StudyApplication(0, "same", 1.0, 100.0, 1, 4, 0.0, reads, 100.0, deadline_s=301.0)
    others = [app(n, 0.0, read_bytes=40_000.0 * MB) for n in range(1, 6)]
    plain = run(promised, *others, taught=taught, capacity=100 * MB)
    assert ends(plain)[0] > 301.0
    kept = run(promised, *others, rules=RunRules(POLICY, PromiseWish(0.9)), taught=taught, capacity=100 * MB)
    assert ends(kept)[0] <= 301.0
    assert kept.outcome.kept_promises() == (1, 1)


def test_refused_execution_does_not_run_or_runs_as_a_wish() -> None:
    late = app(1, 1.0, 20.0)
    left = run(app(0), late, rules=RunRules(POLICY, PromiseWish(0.9)))
    assert [application.number for application in left.outcome.refused] == [1]
    assert left.outcome.goodput([late]) == 0.0
    wished = run(app(0), late, rules=RunRules(POLICY, PromiseWish(0.9), RefusalReaction.WISH))
    assert wished.outcome.refused == []
    assert 1 in ends(wished)


def test_with_exact_run_times_everything_that_fits_is_promised_and_kept() -> None:
    apps = [app(n, 10.0 * n, 150.0, run_s=100.0 + n, declared_s=10.0) for n in range(6)]
    found = run(*apps, rules=RunRules(POLICY, PromiseWish(0.99), exact=True))
    assert found.outcome.kept_promises() == (6, 6)
    assert found.outcome.goodput(apps) == 1.0


def test_a_seed_draws_the_same_at_all_loads_and_loads_are_reached() -> None:
    """Bytes fall short of a load where no run may read for more than twice as long as it computes."""
    logs = test_data() / "traces"
    light, heavy = (workload(StudyCase(5, load, load), logs) for load in (0.5, 1.0))
    assert [application.run_s for application in light.applications] == [
        application.run_s for application in heavy.applications
    ]
    assert [application.has_deadline for application in light.applications] == [
        application.has_deadline for application in heavy.applications
    ]
    for found, load in ((light, 0.5), (heavy, 1.0)):
        gaps = [b.submit_s - a.submit_s for a, b in pairwise(found.applications)]
        assert max(gaps) <= 11 * sum(gaps) / len(gaps)
        span_s = sum(application.core_s for application in found.applications) / (CORES * load)
        assert found.applications[-1].submit_s == pytest.approx(span_s, rel=0.2)
        assert sum(application.read_bytes for application in found.applications) <= load * CAPACITY * span_s * 1.01
        assert all(
            1.19 <= _slack(application) <= 5.01 for application in found.applications if application.has_deadline
        )
    assert len(heavy.failures) == 4


def test_a_warning_counts_as_early_by_the_share_of_the_run_time_that_was_left() -> None:
    """Of three broken promises two were announced, one of them with less than a fifth of its run time to go."""
    one = app(1, in_s=1000.0)
    outcome = StudyOutcome(CORES)
    outcome.ends = [StudyEnd(one, 600.0, 1100.0, promised=True, name=name) for name in ("early", "late", "silent")]
    outcome.noticed = {"early": 900.0, "late": 901.0}
    assert outcome.kept_promises() == (0, 3)
    assert outcome.announced_failures() == 2
    assert outcome.announced_failures(0.2) == 1


@pytest.mark.parametrize("tells", [False, True])
def test_reported_progress_announces_lateness_early(tells: bool) -> None:
    """It takes three times as long as declared and hoped, and only its progress shows it."""
    slow = app(1, in_s=400.0, run_s=1200.0, declared_s=300.0)
    rules = RunRules(POLICY, PromiseWish(0.5), tells=tells)
    outcome = run(slow, app(2, at_s=390.0), rules=rules).outcome
    assert outcome.kept_promises() == (0, 1)
    assert outcome.announced_failures(0.2) == int(tells)


def _slack(one: StudyApplication) -> float:
    return (one.deadline_s - one.submit_s) / one.takes_s(one.total, CAPACITY)
