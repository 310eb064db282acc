from __future__ import annotations

from dataclasses import replace

from storage_bridge.bandwidth.assignment import Capacity, TransferKind
from storage_bridge.bandwidth.regulator import RateRegulator, RateSettings, TransferReport, Transfers

X, Y = ("x", TransferKind.READ), ("y", TransferKind.READ)
SETTINGS = RateSettings(floor=0, epsilon=0.02, resend_epochs=100, hold_s=5, decay_s=10, memory_epochs=1, linger_s=0)


def regulator(**nodes: int) -> RateRegulator:
    return RateRegulator(Capacity(sum(nodes.values()), nodes), SETTINGS)


def report(node: str, at_s: float, **rates: float | None) -> TransferReport:
    return TransferReport(node, at_s, tuple(Transfers(tenant, node, rate) for tenant, rate in rates.items()))


def test_only_changes_are_sent_and_a_limit_that_is_over_is_lifted() -> None:
    one = regulator(n=100)
    assert one.epoch(0, [report("n", 0, x=None)], {X: 50}) == {(X, "n"): 100}
    assert one.epoch(1, [report("n", 1, x=100.0)], {X: 50}) == {}
    assert one.epoch(2, [report("n", 2, x=99.0, y=None)], {X: 50}) == {(X, "n"): 75, (Y, "n"): 25}
    assert one.epoch(3, [report("n", 3, y=25.0)], {X: 50}) == {(X, "n"): None, (Y, "n"): 100}
    assert one.epoch(4, [report("n", 4)], {X: 50}) == {(Y, "n"): None}


def test_everything_is_sent_again_at_times_and_to_a_node_that_returns() -> None:
    one = RateRegulator(Capacity(100, {"n": 100}), RateSettings(floor=0, resend_epochs=3, hold_s=5))
    sent = [one.epoch(at_s, [report("n", at_s, x=100.0)], {}) for at_s in (0, 1, 2, 3)]
    assert [bool(news) for news in sent] == [True, False, True, False]
    one.epoch(50, [], {})
    assert one.epoch(100, [report("n", 100, x=100.0)], {}) == {(X, "n"): 100}


def test_unused_bandwidth_is_lent_and_returned_on_demand() -> None:
    one = regulator(n=1000)
    one.epoch(0, [report("n", 0, x=None, y=None)], {X: 600})
    assert one.limits == {(X, "n"): 800, (Y, "n"): 200}
    one.epoch(1, [report("n", 1, x=100.0, y=200.0)], {X: 600})
    assert one.limits == {(X, "n"): 125, (Y, "n"): 875}
    one.epoch(2, [report("n", 2, x=125.0, y=875.0)], {X: 600})
    assert one.limits[X, "n"] == 800


def test_one_bad_second_costs_nobody_its_slo() -> None:
    one = RateRegulator(Capacity(1000, {"n": 1000}), RateSettings(floor=0, memory_epochs=3))
    one.epoch(0, [report("n", 0, x=None, y=None)], {X: 600})
    for at_s, used in enumerate((800.0, 100.0, 100.0), start=1):
        one.epoch(at_s, [report("n", at_s, x=used, y=200.0)], {X: 600})
        assert one.limits == {(X, "n"): 800, (Y, "n"): 200}
    one.epoch(4, [report("n", 4, x=100.0, y=200.0)], {X: 600})
    assert one.limits == {(X, "n"): 125, (Y, "n"): 875}
    one.epoch(5, [report("n", 5, x=125.0, y=800.0)], {X: 600})
    assert one.limits[X, "n"] == 800


def test_pausing_tenant_reserves_nothing_and_returns_as_before() -> None:
    one = RateRegulator(Capacity(1000, {"n": 1000}), RateSettings(floor=0, linger_s=10))
    one.epoch(0, [report("n", 0, x=None, y=None)], {X: 600})
    one.epoch(1, [report("n", 1, y=200.0)], {X: 600})
    assert one.limits == {(X, "n"): 800, (Y, "n"): 1000}
    one.epoch(2, [report("n", 2, x=800.0, y=200.0)], {X: 600})
    assert one.limits == {(X, "n"): 800, (Y, "n"): 200}
    one.epoch(3, [report("n", 3)], {X: 600})
    one.epoch(13, [report("n", 13)], {X: 600})
    assert one.limits == {}


def test_a_silent_node_keeps_its_limits_and_then_falls_to_the_share_of_the_slo() -> None:
    one = regulator(a=100, b=100)
    one.epoch(0, [report("a", 0, x=None, y=None), report("b", 0, z=None)], {X: 40})
    before = dict(one.limits)
    assert (before[X, "a"], before[Y, "a"]) == (70, 30)
    assert one.epoch(4, [report("b", 4, z=None)], {X: 40}) == {}
    assert one.limits == before
    one.epoch(10, [report("b", 10, z=None)], {X: 40})
    assert (one.limits[X, "a"], one.limits[Y, "a"]) == (55, 15)
    one.epoch(60, [report("b", 60, z=None)], {X: 40})
    assert (one.limits[X, "a"], one.limits[Y, "a"]) == (40, 0)
    one.epoch(61, [report("a", 61, x=None, y=None), report("b", 61, z=None)], {X: 40})
    assert one.limits == before


def test_where_a_node_may_be_lost_its_clients_soon_get_all_of_their_share_at_the_others() -> None:
    one = RateRegulator(Capacity(200, {"a": 100, "b": 100}), replace(SETTINGS, lost_s=0.6))
    one.epoch(0, [report("a", 0, x=None, y=None), report("b", 0, x=None, y=None)], {X: 90})
    assert one.limits[X, "b"] < 90
    one.epoch(0.5, [report("b", 0.5, x=None, y=None)], {X: 90})
    assert one.limits[X, "b"] < 90, "a report may be late"
    one.epoch(0.75, [report("b", 0.75, x=None, y=None)], {X: 90})
    assert one.limits[X, "b"] >= 90
    assert one.limits[X, "b"] + one.limits[Y, "b"] <= 100
    one.epoch(1, [report("a", 1, x=None, y=None), report("b", 1, x=None, y=None)], {X: 90})
    assert one.limits[X, "a"] + one.limits[X, "b"] >= 90


def test_bandwidth_of_silent_nodes_is_not_given_away() -> None:
    one = RateRegulator(Capacity(100, {"a": 100, "b": 100}), SETTINGS)
    one.epoch(0, [report("a", 0, x=None), report("b", 0, y=None)], {})
    assert one.limits == {(X, "a"): 50, (Y, "b"): 50}
    one.epoch(6, [report("b", 6, y=50.0)], {})
    assert sum(one.limits.values()) <= 100


def test_promise_beyond_the_capacity_is_reported_as_missed() -> None:
    one = regulator(n=100)
    one.epoch(0, [report("n", 0, x=None)], {X: 130})
    assert one.missed == {X: 30}


def test_returning_tenant_is_remembered_by_its_last_use() -> None:
    one = RateRegulator(Capacity(1000, {"n": 1000}), RateSettings(floor=0, linger_s=10))
    one.epoch(0, [report("n", 0, x=None, y=None)], {})
    one.epoch(1, [report("n", 1, x=500.0, y=500.0)], {})
    one.epoch(2, [report("n", 2, y=500.0)], {})
    one.epoch(3, [report("n", 3, x=50.0, y=900.0)], {})  # it began just before this report
    assert one.limits == {(X, "n"): 500, (Y, "n"): 500}


def test_a_limit_waits_for_whoever_is_promised_something_and_for_newcomers() -> None:
    one = regulator(n=1000)
    one.epoch(0, [report("n", 0)], {X: 600})
    assert (one.newcomers, one.standing) == ({"n": 1000}, {(X, "n"): 1000})
    one.epoch(1, [report("n", 1, y=None)], {X: 300})
    assert (one.newcomers, one.standing) == ({"n": 500}, {(X, "n"): 800})
    one.epoch(2, [report("n", 2, x=None, y=500.0)], {X: 300})
    assert (one.newcomers, one.standing) == ({"n": 233}, {})
    one.epoch(20, [], {X: 300})
    assert one.standing == {}  # the node is silent: its limits fade
    assert one.newcomers == {"n": 233}


def test_attainable_bandwidth_ignores_present_use() -> None:
    one = regulator(n=1000)
    assert one.attainable(X, None) is None
    one.epoch(0, [report("n", 0)], {})
    assert one.attainable(X, None) == 1000
    one.epoch(1, [report("n", 1, x=None, y=None)], {})
    one.epoch(2, [report("n", 2, x=10.0, y=500.0)], {})
    assert one.limits[X, "n"] < 100
    assert one.attainable(X, None) == 500
    assert one.attainable(X, 800) == 900
    assert one.attainable(("new", TransferKind.READ), 200) > one.attainable(("new", TransferKind.READ), None) > 400  # type: ignore[operator]
