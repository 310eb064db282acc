"""Nodes as the master sees them: what Swarm says, less what foreign containers take."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.cluster import Node
from zoe_lib.domain.resources import Resources
from zoe_master.backends.swarm.facts import NodeFacts
from zoe_master.backends.swarm.watches import Watches


def nodes_now(facts: Mapping[str, NodeFacts], watches: Watches, ours: Mapping[str, int]) -> list[Node]:
    """One Node for each machine; one whose engine cannot be asked says so and is used all the same."""
    return [_node(node, watches, ours.get(node.name, 0)) for node in facts.values()]


def _node(node: NodeFacts, watches: Watches, ours: int) -> Node:
    watch = watches.get(node.name)
    problem = watch.problem if watch is not None else ""
    return Node(
        name=node.name,
        total=node.total,
        foreign=watch.foreign if watch is not None else Resources(),
        labels=node.labels,
        ready=node.available,
        containers=ours + (watch.foreign_count if watch is not None else 0),
        message="; ".join(text for text in (node.message, problem) if text),
    )
