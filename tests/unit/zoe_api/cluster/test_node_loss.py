"""Nodes are chosen by name and by labels."""

from __future__ import annotations

import pytest

from tests.support.scheduling import node
from zoe_api.cluster.node_loss import chosen_nodes
from zoe_api.http.problems.problems import ApiProblem
from zoe_client.wire import NodeLossRequest

THERE = (
    node("a", labels={"rack": "1", "room": "x"}),
    node("b", labels={"rack": "1", "room": "y"}),
    node("c", labels={"rack": "2", "room": "y"}),
)


@pytest.mark.parametrize(
    ("names", "labels", "chosen"),
    [
        (["a"], {}, {"a"}),
        ([], {"rack": "1"}, {"a", "b"}),
        ([], {"rack": "1", "room": "y"}, {"b"}),
        (["c"], {"room": "x"}, {"a", "c"}),
    ],
)
def test_nodes_have_all_labels_or_are_named(names: list[str], labels: dict[str, str], chosen: set[str]) -> None:
    assert chosen_nodes(NodeLossRequest(nodes=names, labels=labels), THERE) == chosen


@pytest.mark.parametrize(
    ("names", "labels", "told"),
    [
        ([], {}, "name nodes, or labels"),
        (["a", "d"], {}, "node d does not exist"),
        (["a"], {"rack": "3"}, "no node has rack=3"),
    ],
)
def test_what_is_not_there_is_refused(names: list[str], labels: dict[str, str], told: str) -> None:
    with pytest.raises(ApiProblem, match=told):
        chosen_nodes(NodeLossRequest(nodes=names, labels=labels), THERE)
