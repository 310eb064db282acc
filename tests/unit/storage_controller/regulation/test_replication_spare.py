"""Replication gets the rest of the disks beside guarantees: never below its least rate, down at once, and it
settles.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from storage_bridge.bandwidth.assignment import Capacity, ClaimKey, TransferClaim, TransferKind
from storage_bridge.bandwidth.regulator import RateRegulator, RateSettings, TransferReport, Transfers
from storage_controller.database.controller_ledger import ControllerLedger
from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.regulation.replication import NO_LIMIT, ReplicationPace
from storage_controller.regulation.replication_spare import RISE_S, Disks, spare, steady
from tests.support.manual_clock import ManualClock

MB = 10**6
DISKS = Disks(servers=4, bytes_per_s=100 * MB, replicas=3, least=5 * MB)
EPOCH_S = 0.25


def claim(tenant: str, slo: int | None, demand: int | None, kind: TransferKind = TransferKind.READ) -> TransferClaim:
    return TransferClaim(tenant, frozenset({"p1"}), slo, demand, kind)


def test_it_gets_all_that_nobody_uses_and_what_promises_leave() -> None:
    assert spare(DISKS, []) == 100 * MB
    assert spare(DISKS, [claim("a", None, 80 * MB)]) == 80 * MB
    assert spare(DISKS, [claim("a", 200 * MB, 200 * MB)]) == 50 * MB
    assert spare(DISKS, [claim("a", 100 * MB, 100 * MB, TransferKind.WRITE)]) == 25 * MB, "written three times"
    half = spare(DISKS, [claim("a", None, None)])
    assert abs(half - 50 * MB) <= 3 * MB, "beside one with unlimited demand: half of the rest beside its least rate"
    assert spare(DISKS, [claim("a", 400 * MB, 400 * MB)]) == 5 * MB


CLAIMS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 500 * MB),
        st.none() | st.integers(0, 500 * MB),
        st.sampled_from([TransferKind.READ, TransferKind.WRITE]),
    ),
    max_size=6,
)


@given(found=CLAIMS, least=st.integers(0, 100 * MB), replicas=st.integers(1, 4))
def test_replication_leaves_promised_and_used_bandwidth(
    found: list[tuple[int | None, int | None, TransferKind]], least: int, replicas: int
) -> None:
    disks = Disks(4, 100 * MB, replicas, least)
    claims = [claim(f"t{number}", *item) for number, item in enumerate(found)]
    rate = spare(disks, claims)
    assert least <= rate <= disks.bytes_per_s
    due = sum(_due(claim) * (replicas if claim.traffic is TransferKind.WRITE else 1) for claim in claims)
    if due + disks.servers * least <= disks.servers * disks.bytes_per_s:
        floors = 64 * 1024 * len(claims)  # each has a little, whatever it uses
        assert disks.servers * rate + due <= disks.servers * disks.bytes_per_s + floors


def _due(one: TransferClaim) -> int:
    return (one.slo or 0) if one.demand is None else min(one.slo or 0, one.demand)


def test_it_falls_at_once_rises_slowly_and_rests() -> None:
    assert steady(DISKS, None, 70 * MB, 0.0) == 70 * MB
    assert steady(DISKS, 70 * MB, 20 * MB, 0.25) == 20 * MB
    assert steady(DISKS, 70 * MB, 74 * MB, 0.25) == 70 * MB
    assert steady(DISKS, 20 * MB, 100 * MB, RISE_S / 10) == 30 * MB


def pace(mode: Mode = Mode.ON) -> tuple[ReplicationPace, ManualClock, Supervisor]:
    kept, supervisor, clock = ControllerLedger.__new__(ControllerLedger), Supervisor(), ManualClock(0.0)
    kept.mode = lambda _name: mode  # type: ignore[method-assign]
    made = ReplicationPace(kept, supervisor, DISKS, clock)
    made.look()
    return made, clock, supervisor


def rates(made: ReplicationPace, clock: ManualClock, used: Sequence[float], promised: int) -> list[int]:
    """Return the pushed rates, epoch by epoch, while a tenant moves so many bytes per second through one proxy."""
    regulator = RateRegulator(Capacity(400 * MB, {"p1": 400 * MB}), RateSettings())
    slos: dict[ClaimKey, int] = {("a", TransferKind.READ): promised}
    found = []
    for moved in used:
        clock.advance(EPOCH_S)
        transfers = (Transfers("a", "p1", moved),) if moved else ()
        regulator.epoch(clock.now_s(), [TransferReport("p1", clock.now_s(), transfers)], slos)
        found.append(made.rate(regulator.claims))
    return found


def test_one_that_begins_to_use_its_promise_has_it_within_a_second() -> None:
    made, clock, _ = pace()
    found = rates(made, clock, [0.0] * 8 + [300.0 * MB] * 8, 300 * MB)
    assert found[7] == 100 * MB
    assert all(4 * rate <= 100 * MB + 4 * DISKS.least for rate in found[8 + int(1 / EPOCH_S) - 1 :])


def test_beside_a_tenant_that_varies_it_comes_to_rest() -> None:
    made, clock, _ = pace()
    around = random.Random(7)
    found = rates(made, clock, [around.uniform(95, 105) * MB for _ in range(400)], 100 * MB)
    assert len(set(found[-100:])) <= 2
    assert found[-1] >= 40 * MB


def test_without_reports_it_has_its_least_rate_and_a_dry_run_says_what_it_would_do() -> None:
    made, clock, supervisor = pace()
    assert made.rate(None) == DISKS.least
    dry, clock, supervisor = pace(Mode.DRY)
    clock.set(1.0)
    assert dry.rate([claim("a", 200 * MB, 200 * MB)]) == NO_LIMIT
    assert (
        supervisor.states()[0].last
        == "would hold replication to each object server at 50 MB/s, the rest beside guarantees"
    )
