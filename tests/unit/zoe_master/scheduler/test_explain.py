"""Explanations of each node for a waiting execution."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import DEFAULT_FILTERS
from zoe_lib.domain.values.clock import utc_text
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.what_if.explain import explain

NOW_S = 1000.0
HOLDS = {
    "drained": NodeHold(note="new disks"),
    f"drained until {utc_text(2000)}": NodeHold(until_s=2000.0),
    f"reserved for another tenant until {utc_text(2000)}": NodeHold(tenant="physics", until_s=2000.0),
    "reserved for another tenant": NodeHold(tenant="physics"),
    f"will be reserved soon, from {utc_text(1500)} until {utc_text(2000)}": NodeHold(
        tenant="physics", since_s=1500.0, until_s=2000.0
    ),
}
WANTED = queued("x", component(cores=4, labels=(("disk", "ssd"),)), expected_run_s=3600.0)


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("text", HOLDS)
def test_a_hold_is_named_whether_the_node_is_busy_or_not(text: str, busy: bool) -> None:
    held = node("held", cores=8, holds=(HOLDS[text],), labels={"disk": "ssd"})
    other = node("other", cores=3, labels={"disk": "ssd"})
    active = (started(queued("r", component(cores=8)), "held"),) if busy else ()
    told = explain(Snapshot(NOW_S, (held, other), (WANTED,), active), FIFO, "x")
    assert told is not None
    note = f": {HOLDS[text].note}" if HOLDS[text].note else ""
    assert told.nodes["held"] == {"c": text + note}
    assert told.nodes["other"] == {"c": "cores: 4 needed, 3 free"}


def test_every_node_whose_hold_is_in_the_way_is_named_by_it() -> None:
    """Nodes at random: small, busy, down, without the label, and held; the policy lists filters in any sequence."""
    chance = random.Random(1)
    for _ in range(300):
        nodes = tuple(
            node(
                f"n{i}",
                cores=chance.choice([2, 8]),
                ready=chance.random() < 0.8,
                labels=chance.choice([{}, {"disk": "ssd"}]),
                holds=tuple(chance.sample([*HOLDS.values()], chance.choice([0, 1, 2]))),
            )
            for i in range(4)
        )
        active = (started(queued("r", component(cores=2)), chance.choice(nodes).name),)
        filters = tuple(chance.sample(DEFAULT_FILTERS, len(DEFAULT_FILTERS)))
        told = explain(Snapshot(NOW_S, nodes, (WANTED,), active), replace(FIFO, filters=filters), "x")
        assert told is not None
        for entry in nodes if told.nodes else ():
            held = any(hold.refuses("default", NOW_S, NOW_S + 3600.0) for hold in entry.holds)
            text = told.nodes.get(entry.name, {}).get("c", "")
            assert text.startswith(("drained", "reserved", "will be reserved")) == held, (entry, text)
