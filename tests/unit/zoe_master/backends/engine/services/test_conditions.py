"""From facts about a container to the sentence why it does not run as it should."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.zoe_master.backends.swarm.services.test_task_observation import PROBE, RUNNING, TASK, record
from zoe_master.backends.engine.daemon.container_facts import container_facts
from zoe_master.backends.engine.errors import ErrorText
from zoe_master.backends.engine.services.conditions import condition_of
from zoe_master.backends.engine.services.service_files import Mark
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.swarm.services.task_observation import observe_task

PAUSED = "its container is paused, from outside of Zoe; `docker unpause` continues it"
ALONE = "its container has no network: it was disconnected from outside of Zoe"
UNREADY = "port web does not answer yet; it has 5 s from its start"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, ""),
        ({"container": replace(RUNNING, paused=True)}, PAUSED),
        ({"container": replace(RUNNING, disconnected=True, paused=True)}, f"{PAUSED}; {ALONE}"),
        (
            {"container": replace(RUNNING, out_of_memory=True)},
            "the kernel ended one of its processes, since it used more memory than its limit",
        ),
        ({"probe": PROBE}, UNREADY),
        ({"probe": PROBE, "mark": Mark(ready_at_s=101.0)}, ""),
        ({"container": None, "task": None}, ""),
        ({"container": None, "task": None, "obstacle": ErrorText("nobody takes it")}, "nobody takes it"),
        (
            {"container": None, "task": replace(TASK, state="preparing")},
            "its engine prepares its image, network and files",
        ),
        (
            {"container": None, "task": replace(TASK, state="pending", message="no suitable node")},
            "Swarm has not started it yet: no suitable node",
        ),
    ],
)
def test_each_condition_has_its_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert condition_of(record(**changes)).message == sentence


def test_an_observation_carries_the_condition_in_each_state() -> None:
    paused = replace(RUNNING, paused=True)
    for changes in ({}, {"probe": PROBE}, {"probe": PROBE, "mark": Mark(ready_at_s=101.0)}):
        assert observe_task(record(container=paused, **changes)).message.startswith(PAUSED)


@pytest.mark.parametrize(
    ("state", "networks", "found"),
    [
        ({"Running": True, "Paused": True}, {"zoe": {}}, (True, False)),
        ({"Running": True, "Paused": False}, {}, (False, True)),
        ({"Running": True, "Paused": False}, {"zoe": {}}, (False, False)),
        ({"Running": False, "Paused": False}, {}, (False, False)),
    ],
)
def test_an_inspection_shows_pauses_and_lost_networks(
    state: dict[str, Any], networks: dict[str, Any], found: tuple[bool, bool]
) -> None:
    never = "0001-01-01T00:00:00Z"
    tags = {labels.TASK_NAME: "zoe-c.1.x", labels.TASK_ID: "task", labels.SERVICES: "e.c.0.1"}
    times = {"StartedAt": never, "FinishedAt": never, "ExitCode": 0, "Error": "", "OOMKilled": False, "Status": "x"}
    inspected = {
        "Id": "c", "Config": {"Labels": tags}, "State": {**times, **state}, "NetworkSettings": {"Networks": networks},
    }  # fmt: skip
    facts = container_facts(inspected)
    assert facts is not None
    assert (facts.paused, facts.disconnected) == found
