"""Names of proxied ports."""

from __future__ import annotations

import pytest

from tests.support.applications import application, component, execution
from tests.support.plain_api import after
from tests.support.scheduling import started
from zoe_api.apps import port_numbers
from zoe_api.apps.port_numbers import NO_PORT, label, read_label
from zoe_lib.domain.applications.application import Port, PortProtocol
from zoe_lib.domain.executions import events as ev
from zoe_lib.store.errors import NotFound

WEB, API = (Port(name, 80, PortProtocol.HTTP, proxied=True) for name in ("web", "api"))
APP = application(component("a", 2, ports=(WEB, Port("rpc", 7), API)), component("b", 1, ports=(API,)))
ONE = started(after(execution(1, application=APP), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)), "n", "n", "n")


def test_ports_are_numbered_in_the_order_of_the_description() -> None:
    found = [(port.number, port.component, port.index, port.port.name) for port in port_numbers.proxied_ports(ONE)]
    assert found == [(0, "a", 0, "web"), (1, "a", 0, "api"), (2, "a", 1, "web"), (3, "a", 1, "api"), (4, "b", 0, "api")]


def test_a_port_is_found_by_its_service_and_by_its_number() -> None:
    second, third = ONE.services[1:]
    assert port_numbers.number_of(ONE, second, "api").number == 3
    assert port_numbers.number_of(ONE, third, "api").number == 4
    for port in ("rpc", "none"):
        with pytest.raises(NotFound):
            port_numbers.number_of(ONE, second, port)
    found = port_numbers.service_at(ONE, 3)
    assert found is not None
    assert (found[0].id, found[1].name) == (second.id, "api")
    assert port_numbers.service_at(ONE, 5) is None
    assert port_numbers.service_at(ONE, NO_PORT) is None
    ended = after(ONE, ev.ServiceEnded(at_s=2.0, service_id=second.id, cause="exited"))
    assert port_numbers.service_at(ended, 3) is None


@pytest.mark.parametrize(("number", "text"), [(0, "e1"), (1, "e1-1"), (123456789, "e1-123456789")])
def test_a_label_is_read_as_it_is_written(number: int, text: str) -> None:
    assert label("e1", number) == text
    assert read_label(text) == ("e1", number)


@pytest.mark.parametrize("text", ["e1-", "e1-0", "e1-01", "e1-x", "e1--1", "e1-1234567890", "e1-١"])
def test_another_label_names_no_port(text: str) -> None:
    assert read_label(text) == ("e1", NO_PORT)
