"""The minimum values that Docker Engine and Swarm accept."""

from __future__ import annotations

from zoe_lib.domain.cluster.platform import EngineLimits

_MIB = 2**20
# Seen with Docker Engine 20.10: the minimum of Swarm, then of the engine, then of the kernel (1 ms of each 100).
DOCKER = EngineLimits(memory_min_bytes=4 * _MIB, memory_limit_min_bytes=6 * _MIB, cores_limit_min_milli=10)
