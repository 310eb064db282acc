"""Bandwidth that can be guaranteed, and that is missed, while servers of the store are away."""

from __future__ import annotations

import pytest

from storage_bridge.model import BandwidthSlo, MissedBandwidth
from storage_controller.answers import RequestRefusedError
from storage_controller.promises.availability import SILENT_S, availability, with_undeliverable
from storage_controller.promises.held_places import EnforcingServers
from storage_controller.promises.promisable import Promisable
from storage_controller.settings import NodeKind

USUAL = BandwidthSlo(20, 20)
PROXIES = EnforcingServers({"p": 15, "q": 15})
DISKS = EnforcingServers({"p": 15}, {"s": 12, "t": 12}, replicas=2)
NOTHING = BandwidthSlo(0, 0)
HEARD = {"p": 0.2, "q": SILENT_S}
GONE = SILENT_S + 1


def test_servers_that_report_change_nothing() -> None:
    assert availability(USUAL, PROXIES, HEARD).rates == USUAL
    assert availability(USUAL, PROXIES, HEARD).why == ()


def test_a_lost_proxy_takes_its_part_away_and_the_last_one_everything() -> None:
    one = availability(USUAL, PROXIES, {"p": GONE, "q": 0.2})
    assert (one.rates, one.why) == (BandwidthSlo(15, 15), ("proxies of the object store that are away: p",))
    both = availability(USUAL, PROXIES, {"p": GONE, "q": GONE})
    assert (both.rates, both.why) == (NOTHING, ("no proxy of the object store answers",))


def test_disks_that_enforce_bandwidth_count_their_replicas() -> None:
    assert availability(USUAL, DISKS, {"p": 0.0, "s": GONE, "t": 0.0}).rates == BandwidthSlo(12, 6)
    assert availability(USUAL, DISKS, {"p": 0.0, "s": GONE, "t": GONE}).rates == NOTHING


@pytest.mark.parametrize("kind", [NodeKind.PROXY, NodeKind.OBJECT])
def test_the_only_server_of_a_kind_that_is_away_is_a_dead_store(kind: NodeKind) -> None:
    """Health checks know it where the server does not report, and under other names."""
    found = availability(USUAL, PROXIES, HEARD, [("some", kind, True)])
    assert found.rates == NOTHING
    assert len(found.why) == 1
    health = [("some", kind, True), ("other", kind, False)]
    assert availability(USUAL, PROXIES, HEARD, health).rates == USUAL


def test_what_a_dead_store_does_not_deliver_is_missed() -> None:
    promised = {"acme": BandwidthSlo(8, 4), "other": BandwidthSlo(8, None)}
    measured = {"acme": MissedBandwidth(1, 0)}
    assert with_undeliverable(measured, promised, USUAL) == measured
    assert with_undeliverable(measured, promised, None) == measured
    dead = with_undeliverable(measured, promised, NOTHING)
    assert dead == {"acme": MissedBandwidth(8, 4), "other": MissedBandwidth(8, 0)}
    half = with_undeliverable(measured, promised, BandwidthSlo(8, 4))
    assert half == {"acme": MissedBandwidth(4, 0), "other": MissedBandwidth(4, 0)}


def test_a_dead_store_takes_no_new_guarantee_and_keeps_the_old_ones() -> None:
    dead = Promisable(USUAL, available=lambda: (NOTHING, ("no proxy of the object store answers",)))
    with pytest.raises(RequestRefusedError, match="to read now: no proxy of the object store answers"):
        dead.check_alive(BandwidthSlo(5, None), BandwidthSlo())
    dead.check_alive(BandwidthSlo(5, None), BandwidthSlo(5, None))
    Promisable(USUAL).check_alive(BandwidthSlo(5, None), BandwidthSlo())
