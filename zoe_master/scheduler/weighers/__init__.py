"""Weighers by name; a policy gives each a weight, and a negative weight turns spread into pack."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_master.scheduler.request import Weigher
from zoe_master.scheduler.weighers.fewest_containers import fewest_containers
from zoe_master.scheduler.weighers.free_memory import free_memory

WEIGHERS: Mapping[str, Weigher] = {
    "fewest_containers": fewest_containers,
    "free_memory": free_memory,
}
