"""Weighers by name; a policy gives each a weight, and a negative weight turns spread into pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.request import Weigher
from zoe_master.scheduler.placement.weighers.fewest_containers import fewest_containers, fewest_containers_of_one
from zoe_master.scheduler.placement.weighers.free_memory import free_memory, free_memory_of_one
from zoe_master.scheduler.placement.weighers.locality import locality
from zoe_master.scheduler.placement.weighers.storage_headroom import storage_headroom

# Their scores depend on an application's use of the object store, not only on its demand.
STORAGE_WEIGHERS = frozenset({"locality", "storage_headroom"})

# Plugins add theirs at the start (zoe_master/plugins.py).
WEIGHERS: dict[str, Weigher] = {
    "fewest_containers": fewest_containers,
    "free_memory": free_memory,
    "locality": locality,
    "storage_headroom": storage_headroom,
}

# Thousands of equal services are placed one by one, each on the node that was scored last; arrays of one element would
# cost more than the rest of the scoring. The scores are the same to the bit.
WEIGHERS_OF_ONE: Mapping[str, Callable[[int, Ledger], float]] = {
    "fewest_containers": fewest_containers_of_one,
    "free_memory": free_memory_of_one,
}
