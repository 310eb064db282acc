"""Weighers by name; a policy gives each a weight, and a negative weight turns spread into pack."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_master.scheduler.request import Weigher
from zoe_master.scheduler.weighers.fewest_containers import fewest_containers
from zoe_master.scheduler.weighers.free_memory import free_memory
from zoe_master.scheduler.weighers.locality import locality
from zoe_master.scheduler.weighers.storage_headroom import storage_headroom

# Whose scores depend on what of the store an application uses, not on its demand alone.
STORAGE_WEIGHERS = frozenset({"locality", "storage_headroom"})

WEIGHERS: Mapping[str, Weigher] = {
    "fewest_containers": fewest_containers,
    "free_memory": free_memory,
    "locality": locality,
    "storage_headroom": storage_headroom,
}
