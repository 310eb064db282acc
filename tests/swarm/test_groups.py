"""Identical tasks are one Swarm service, and yet each can be taken back alone."""

from __future__ import annotations

import os
import random
from typing import Any

from tests.local.support import MIB
from tests.support.swarm_backend import SwarmHarness, peers, small
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState

# Of each of two groups; `make test-swarm` takes a hundred in all.
COUNT = int(os.environ.get("ZOE_TEST_GROUP", "12"))
SERVICES = [f"e.w.{index}.1" for index in range(COUNT)]


def swarm_services(harness: SwarmHarness) -> list[Any]:
    api: Any = harness.cluster.manager.api
    return list(api.services())


def test_identical_services_are_one_swarm_service_with_names_of_their_own(harness: SwarmHarness) -> None:
    made = small(
        "echo $ZOE_INDEX; hostname; exec sleep 1000", name="w", total_count=3, environment=(("ZOE_INDEX", "{index}"),)
    )
    for service in SERVICES[:3]:
        harness.start(made, service, peers=peers(*SERVICES[:3]))
    for index, service in enumerate(SERVICES[:3]):
        harness.reach(service, ObservedState.READY)
        harness.until(lambda s=service, i=index: harness.output(s) == f"{i}\nw-{i}\n")
    assert sorted(s["Spec"]["Mode"]["Replicated"]["Replicas"] for s in swarm_services(harness)) == [1, 2]


def test_taking_one_back_touches_no_other(harness: SwarmHarness) -> None:
    tiny = Resources(20, 16 * MIB)
    made = small("exec sleep 1000", name="w", essential_count=0, total_count=COUNT, reservation=tiny)
    for service in SERVICES:
        harness.start(made, service, peers=peers(*SERVICES))
    left = {service: harness.reach(service, ObservedState.READY).backend_id for service in SERVICES}
    assert len(swarm_services(harness)) == 1
    order = random.Random(1).sample(SERVICES, COUNT)
    for service in order:
        harness.backend.stop([service])
        assert harness.reach(service, ObservedState.ENDED).backend_id == left.pop(service)
        harness.backend.forget([service])
        assert {o.service_id: (o.backend_id, o.state) for o in harness.backend.observe()} == {
            service: (container, ObservedState.READY) for service, container in left.items()
        }


def test_one_that_has_ended_leaves_its_engine_before_the_group_does(harness: SwarmHarness) -> None:
    made = small("echo last words; exec sleep 1000", name="w", essential_count=0, total_count=2)
    for service in SERVICES[:2]:
        harness.start(made, service, peers=peers(*SERVICES[:2]))
    for service in SERVICES[:2]:
        harness.reach(service, ObservedState.READY)
    engine = harness.cluster.manager.api
    before = len(engine.containers(all=True))
    harness.backend.stop(SERVICES[:1])
    harness.reach(SERVICES[0], ObservedState.ENDED)
    harness.backend.forget(SERVICES[:1])
    harness.until(lambda: len(engine.containers(all=True)) == before - 1)
    assert harness.output(SERVICES[0]) == "last words\n"
    assert len(swarm_services(harness)) == 1
