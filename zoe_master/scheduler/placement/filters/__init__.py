"""Filters by name; a policy lists the ones it uses, in order."""

from __future__ import annotations

from zoe_lib.domain.cluster.cluster import Node
from zoe_master.scheduler.placement.filters.devices import devices
from zoe_master.scheduler.placement.filters.holds import holds
from zoe_master.scheduler.placement.filters.labels import labels
from zoe_master.scheduler.placement.filters.readiness import readiness
from zoe_master.scheduler.placement.filters.resources import resources
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Filter, Request

# Plugins add theirs at the start (zoe_master/plugins.py).
FILTERS: dict[str, Filter] = {
    "readiness": readiness,
    "holds": holds,
    "labels": labels,
    "devices": devices,
    "resources": resources,
}


def filter_named(name: str) -> Filter:
    """Return the filter of this name; for an unknown name, one that refuses every node, so that nothing is placed."""

    def missing(_request: Request, _node: Node, _ledger: Ledger) -> str:
        return f"filter {name} of the policy is not loaded"

    return FILTERS.get(name, missing)


# These depend on the node and the component alone, so one answer holds for a whole pass.
STATIC_FILTERS = frozenset({"readiness", "labels"})

# These depend on free resources, so an ended service can change their answer.
ROOM_FILTERS = frozenset({"resources", "devices"})
