"""Docker Swarm as a back-end: Zoe decides which service runs where and when, Swarm executes it."""

from zoe_master.backends.swarm.backend import SwarmBackend
from zoe_master.backends.swarm.settings import SwarmSettings

__all__ = ["SwarmBackend", "SwarmSettings"]
