"""Docker Swarm as a back-end: Zoe decides who runs where and when, Swarm carries it out."""

from zoe_master.backends.swarm.backend import SwarmBackend
from zoe_master.backends.swarm.settings import SwarmSettings

__all__ = ["SwarmBackend", "SwarmSettings"]
