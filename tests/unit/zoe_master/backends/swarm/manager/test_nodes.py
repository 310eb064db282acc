"""Messages about a node."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.swarm.facts import NodeFacts
from zoe_master.backends.swarm.manager.nodes import NodeView
from zoe_master.backends.swarm.settings import SwarmSettings


def message(left: int, problem: str, place: Path) -> str:
    """Return the message for this number of unknown containers, on a node with this problem of its engine."""
    facts = NodeFacts("id", "n1", "10.0.0.1", Resources(1000, 2**30), {}, False, True, "")
    watch = SimpleNamespace(
        problem=problem, reachable=not problem, unfit="", foreign=Resources(), foreign_count=0,
        running=lambda: [f"e.c.{number}.1" for number in range(left)],
    )  # fmt: skip
    seen: Any = SimpleNamespace(
        stuck=False, returning=(), reserved_by_others={},
        nodes={"n1": facts}, get=lambda name: watch if name == "n1" else None,
        all=list, problem=lambda _: "", by_node=Counter, warning=lambda _: "",
    )  # fmt: skip
    quorum: Any = SimpleNamespace(problem="")
    registry: Any = SimpleNamespace(get=lambda _: None, records=list)
    [node] = NodeView(seen, quorum, seen, seen, registry, seen, seen, seen, SwarmSettings(place)).nodes()
    return node.message


@pytest.mark.parametrize(
    ("left", "problem", "told"),
    [
        (1, "", "1 container of lost services is still on it and being removed"),
        (2, "", "2 containers of lost services are still on it and being removed"),
        (2, "it is away", "2 containers of lost services are still on it, to be removed once its engine answers"),
    ],
)
def test_leftovers_of_an_unreachable_node_are_removed_later(left: int, problem: str, told: str, tmp_path: Path) -> None:
    assert message(left, problem, tmp_path).split("; ")[-1] == told
