"""The service that bears the gateway, and the gateway's reservation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.applications.application import Application, Component, Port, PortProtocol
from zoe_lib.domain.cluster.cluster import never_fits
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.executions.gateway import NO_GATEWAY, bearer, bearing_component, core_groups, held_resources
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.what_if.explain import explain

GATEWAY = Resources(50, 64 * 2**20)
WEB = Port("web", 8888, PortProtocol.HTTP, proxied=True)
PLAIN = Port("rpc", 7077)


def served(name: str, **more: object) -> Component:
    return component(name, ports=(PLAIN, WEB), **more)


@pytest.mark.parametrize(
    ("components", "bears"),
    [
        ((component("a", ports=(PLAIN,)), component("b")), None),
        ((component("a"), served("b"), served("c")), "b"),
        ((component("a"), component("b"), served("c", essential_count=0, total_count=2)), "a"),
        ((served("c", essential_count=0, total_count=2),), None),
    ],
)
def test_the_first_core_component_with_a_proxied_port_bears_it(
    components: tuple[Component, ...], bears: str | None
) -> None:
    found = bearing_component(Application("a", components))
    assert (found.name if found else None) == bears


def test_the_bearer_is_a_larger_group_of_its_own() -> None:
    plain, web = component("a", essential_count=2, startup_order=1), served("b", essential_count=3)
    groups = core_groups(Application("a", (plain, web)), GATEWAY)
    assert [(c.name, count) for c, count in groups] == [("b", 1), ("b", 2), ("a", 2)]
    assert groups[0][0].reservation == web.reservation + GATEWAY
    assert groups[1][0] == web
    assert core_groups(Application("a", (plain, web)), NO_GATEWAY) == ((web, 3), (plain, 2))


def test_it_is_held_from_placement_to_the_end_of_everything() -> None:
    execution = queued("e", served("a"), component("b", essential_count=2))
    assert list(held_resources(execution, GATEWAY)) == []
    running = started(execution, "x", "y", "z")
    first = bearer(running)
    assert first is not None
    assert first.node == "x"
    amounts = {s.name: amount for s, amount in held_resources(running, GATEWAY)}
    plain = component("b").reservation
    assert amounts == {"a-0": plain + GATEWAY, "b-0": plain, "b-1": plain}
    for service in running.services:
        running = apply(running, ev.ServiceStarting(at_s=2.0, service_id=service.id))
    ended = apply(running, ev.ServiceEnded(at_s=3.0, service_id=first.id, cause=Cause.EXITED, exit_code=0))
    assert [(s.name, amount) for s, amount in held_resources(ended, GATEWAY)] == [
        ("b-0", plain), ("b-1", plain), ("a-0", GATEWAY)
    ]  # fmt: skip
    for service in ended.services[1:]:
        ended = apply(ended, ev.ServiceEnded(at_s=4.0, service_id=service.id, cause=Cause.EXITED, exit_code=0))
    assert list(held_resources(ended, GATEWAY)) == []


def test_a_core_that_fits_only_without_its_gateway_never_fits_and_says_so() -> None:
    full = node("x", cores=1)
    application = Application("a", (served("a"),))
    assert never_fits(application, [full]) is None
    said = never_fits(application, [replace(full, gateway=GATEWAY)])
    assert said is not None
    assert "with their gateway (0.05 cores, 64 MiB) need 1.05 cores" in said.sentence
    assert never_fits(Application("b", (component("b"),)), [replace(full, gateway=GATEWAY)]) is None


def test_the_scheduler_leaves_room_for_the_gateway_of_what_waits_and_of_what_runs() -> None:
    nodes = tuple(node(name, cores=2, gateway=GATEWAY) for name in ("x", "y"))
    waiting = queued("w", served("a", essential_count=4, cores=0.5), component("b", cores=1.5))
    plan = schedule(Snapshot(10.0, nodes, (waiting,)), Policy())
    ledger = Ledger(nodes, ())
    taken = [amount for _, amount in ledger.holdings_at(waiting, plan.starts["w"])]
    assert total(taken) == Resources(3550, 5 * 2**30 + 64 * 2**20)
    running = started(waiting, *(p.node for p in sorted(plan.starts["w"], key=lambda p: p.service_id)))
    assert sum(Ledger(nodes, (running,)).free_cores) == 4000 - 3550
    exact = queued("v", component("c", cores=0.5))
    later = schedule(Snapshot(11.0, nodes, (exact,), (running,)), Policy())
    assert not later.starts


def test_an_explanation_counts_the_gateway() -> None:
    nodes = (node("x", cores=2, gateway=GATEWAY),)
    running = started(queued("r", component("b", cores=1)), "x")
    waiting = queued("w", served("a", cores=1))
    told = explain(Snapshot(10.0, nodes, (waiting,), (running,)), Policy(), "w")
    assert told is not None
    assert told.reason is not None
    assert "need 1.05 cores" in told.reason.sentence
    assert told.nodes == {"x": {"a": "cores: 1.05 needed, 1 free"}}
