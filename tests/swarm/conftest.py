"""One swarm for all tests of a run that need it."""

from tests.support.swarm import swarm

__all__ = ["swarm"]
