"""What the description of the algorithm leaves open, decided."""

from __future__ import annotations

import pytest

from storage_bridge.bandwidth.assignment import Capacity, TransferClaim, TransferKind, assign

ONE = Capacity(100, {"n": 100})
TWO = Capacity(200, {"a": 100, "b": 100})


def on(*nodes: str) -> frozenset[str]:
    return frozenset(nodes)


def test_idle_tenants_get_no_assignment() -> None:
    assert assign([], ONE, 1).rates == {}
    assert assign([TransferClaim("idle", on(), slo=50)], ONE, 1).rates == {}


def test_each_gets_its_slo_and_an_equal_part_of_the_spare() -> None:
    answer = assign(
        [TransferClaim("gold", on("n"), 50), TransferClaim("silver", on("n"), 20), TransferClaim("none", on("n"))],
        ONE,
        0,
    )
    assert [answer.total(t) for t in ("gold", "silver", "none")] == [60, 30, 10]
    assert answer.missed == {}


def test_idle_tenant_reserves_nothing_and_regains_its_slo() -> None:
    gold, other = TransferClaim("gold", on("n"), 60), TransferClaim("other", on("n"))
    assert assign([gold, other], ONE, 0).total("gold") == 80
    assert assign([TransferClaim("gold", on(), 60), other], ONE, 0).total("other") == 100
    assert assign([gold, other], ONE, 0).total("gold") == 80


def test_slos_beyond_the_proxies_shrink_by_one_fraction_and_it_is_said_by_how_much() -> None:
    narrow = Capacity(100, {"a": 100, "b": 100})
    answer = assign([TransferClaim("x", on("a"), 150), TransferClaim("y", on("b"), 50)], narrow, 0)
    assert [answer.total(t) for t in ("x", "y")] == [75, 25]
    assert answer.missed == {("x", TransferKind.READ): 75, ("y", TransferKind.READ): 25}


def test_slos_beyond_one_node_leave_those_on_others_alone() -> None:
    claims = [TransferClaim("x", on("a"), 80), TransferClaim("y", on("a"), 80), TransferClaim("z", on("b"), 80)]
    answer = assign(claims, TWO, 0)
    assert [answer.total(t) for t in "xyz"] == [50, 50, 100]
    assert answer.missed.keys() == {("x", TransferKind.READ), ("y", TransferKind.READ)}


def test_an_slo_is_met_by_whatever_node_has_room() -> None:
    answer = assign([TransferClaim("wide", on("a", "b"), 120), TransferClaim("narrow", on("a"), 80)], TWO, 0)
    assert answer.missed == {}
    assert answer.rates["wide", TransferKind.READ] == {"a": 20, "b": 100}


def test_parts_at_the_nodes_are_equal_where_there_is_room() -> None:
    answer = assign([TransferClaim("wide", on("a", "b"), 60, demand=60)], TWO, 0)
    assert answer.rates["wide", TransferKind.READ] == {"a": 30, "b": 30}


def test_an_slo_of_zero_promises_nothing_like_none() -> None:
    answer = assign([TransferClaim("zero", on("n"), 0), TransferClaim("absent", on("n"), None)], ONE, 0)
    assert [answer.total(t) for t in ("zero", "absent")] == [50, 50]
    assert answer.missed == {}


def test_the_floor_keeps_those_without_a_promise_alive() -> None:
    answer = assign([TransferClaim("gold", on("n"), 100), TransferClaim("none", on("n"))], ONE, 5)
    assert [answer.total(t) for t in ("gold", "none")] == [95, 5]
    assert answer.missed == {("gold", TransferKind.READ): 5}


def test_a_floor_for_more_than_there_is_room_for_shrinks() -> None:
    answer = assign([TransferClaim(f"t{i}", on("n")) for i in range(30)], ONE, 50)
    assert {answer.total(f"t{i}") for i in range(30)} == {3}


def test_unused_bandwidth_goes_to_other_tenants() -> None:
    answer = assign([TransferClaim("slow", on("n"), 60, demand=20), TransferClaim("fast", on("n"), 30)], ONE, 0)
    assert [answer.total(t) for t in ("slow", "fast")] == [20, 80]
    assert answer.missed == {}


def test_reads_writes_and_replication_share_the_disk_and_replication_passes_no_proxy() -> None:
    narrow = Capacity(40, {"n": 100})
    claims = [
        TransferClaim("x", on("n"), 20, traffic=TransferKind.READ),
        TransferClaim("x", on("n"), 10, traffic=TransferKind.WRITE),
        TransferClaim("-", on("n"), 30, traffic=TransferKind.REPLICATION),
    ]
    answer = assign(claims, narrow, 0)
    assert [answer.total("x"), answer.total("x", TransferKind.WRITE)] == [25, 15]
    assert answer.total("-", TransferKind.REPLICATION) == 60
    disk = assign(claims, Capacity(100, {"n": 30}), 0)
    assert sum(sum(rates.values()) for rates in disk.rates.values()) == 30
    assert disk.missed.keys() == {claim.key for claim in claims}


def test_a_tenant_that_reads_and_writes_has_one_share_of_the_spare_not_two() -> None:
    claims = [
        TransferClaim("x", on("n")),
        TransferClaim("x", on("n"), traffic=TransferKind.WRITE),
        TransferClaim("y", on("n")),
    ]
    answer = assign(claims, ONE, 0)
    assert [answer.total("x") + answer.total("x", TransferKind.WRITE), answer.total("y")] == [50, 50]


@pytest.mark.parametrize(
    ("claims", "capacity", "floor", "why"),
    [
        ([TransferClaim("x", on("n"), -1)], ONE, 0, "negative"),
        ([TransferClaim("x", on("n"), demand=-1)], ONE, 0, "negative"),
        ([], Capacity(-1, {}), 0, "negative"),
        ([TransferClaim("x", on("elsewhere"))], ONE, 0, "without a capacity: elsewhere"),
        ([TransferClaim("x", on("n")), TransferClaim("x", on("n"))], ONE, 0, "twice"),
    ],
)
def test_nonsense_is_refused(claims: list[TransferClaim], capacity: Capacity, floor: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        assign(claims, capacity, floor)
