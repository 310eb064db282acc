"""Filters by name; a policy lists the ones it uses, in order."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_master.scheduler.placement.filters.devices import devices
from zoe_master.scheduler.placement.filters.holds import holds
from zoe_master.scheduler.placement.filters.labels import labels
from zoe_master.scheduler.placement.filters.readiness import readiness
from zoe_master.scheduler.placement.filters.resources import resources
from zoe_master.scheduler.placement.request import Filter

FILTERS: Mapping[str, Filter] = {
    "readiness": readiness,
    "holds": holds,
    "labels": labels,
    "devices": devices,
    "resources": resources,
}

# These answer from the node and the component alone, so one answer holds for a whole pass.
STATIC_FILTERS = frozenset({"readiness", "labels"})

# These answer from what is free, so what ends can change their answer.
ROOM_FILTERS = frozenset({"resources", "devices"})
