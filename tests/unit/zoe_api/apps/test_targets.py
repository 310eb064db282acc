"""Addresses of ports: reported by the master, and cached while it is away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import application, component, execution
from tests.support.manual_clock import ManualClock
from tests.support.plain_api import Master, after, run, services
from tests.support.scheduling import started
from zoe_api.apps import targets
from zoe_api.apps.targets import Target, Targets
from zoe_lib.domain.applications.application import Port, PortProtocol
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable

WEB = Port("web", 80, PortProtocol.HTTP, "/lab", proxied=True)
QUEUED = after(
    execution(1, id="e1", application=application(component("a", ports=(WEB,)))),
    ev.Submitted(at_s=1.0),
    ev.Queued(at_s=1.0),
)
ONE = started(QUEUED, "n")
AWAY = MasterUnreachable("away")


class Told:
    """Targets of a store and a master, at a time that a test sets."""

    def __init__(self, one: Execution = ONE) -> None:
        self.clock = ManualClock()
        self.master = Master(address={"host": "10.0.0.1", "port": 31000, "headers": {"a": "b"}})
        self.services = services(one)
        self.targets = Targets(self.services.store, self.master, self.clock)

    def of(self, execution_id: str = "e1", number: int = 0) -> Target | None:
        found: Target | None = run(self.targets.find_target(execution_id, number))
        return found


@pytest.fixture
def told() -> Told:
    return Told()


def test_the_master_tells_an_address_which_is_kept_for_five_seconds(told: Told) -> None:
    found = told.of()
    assert found == Target("10.0.0.1", 31000, "/lab", {"a": "b"})
    assert found.authority == "10.0.0.1:31000"
    for after_s, questions in ((4.9, 1), (0.2, 2)):
        told.clock.advance(after_s)
        told.of()
        assert len(told.master.asked) == questions
    assert told.master.asked[0][1] == {"service_id": ONE.services[0].id, "port": "web"}


def test_stopped_service_has_no_address(told: Told) -> None:
    assert told.of("nothing") is None
    assert told.of("e1", 1) is None
    told.master.answers["address"] = MasterRefused("not_found", "no")
    assert told.of() is None


def test_while_the_master_is_away_its_last_report_counts_for_an_hour(told: Told) -> None:
    told.of()
    told.master.answers["address"] = AWAY
    told.clock.advance(6)
    assert told.of() is not None
    told.clock.advance(4.9)
    told.of()
    assert len(told.master.asked) == 2
    told.clock.advance(3600 - 10.9 - 0.1)
    assert told.of() is not None
    told.clock.advance(5.1)
    with pytest.raises(MasterUnreachable):
        told.of()


def test_a_report_of_another_service_does_not_count(told: Told) -> None:
    told.of()
    told.master.answers["address"] = AWAY
    told.clock.advance(6)
    key = ("e1", 0)
    told.targets._told[key] = replace(told.targets._told[key], service_id="other")
    with pytest.raises(MasterUnreachable):
        told.of()


def test_a_doubted_address_is_asked_for_again(told: Told) -> None:
    told.of()
    told.targets.doubt("e1", 0)
    told.targets.doubt("nothing", 0)
    told.of()
    assert len(told.master.asked) == 2


def test_remembered_addresses_are_bounded(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_REMEMBERED_MAX", 1)
    told.of()
    other: Any = ("other", 0)
    told.targets._told[other] = told.targets._told["e1", 0]
    told.clock.advance(6)
    told.of()
    assert list(told.targets._told) == [("e1", 0)]


def test_an_ipv6_address_stands_in_brackets() -> None:
    assert Target("2001:db8::1", 80, "/", {}).authority == "[2001:db8::1]:80"
    assert "secret" not in repr(Target("h", 1, "/", {"a": "secret"}))
