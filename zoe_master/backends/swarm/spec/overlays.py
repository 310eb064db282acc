"""The size of overlay networks."""

from __future__ import annotations

_RESERVED_ADDRESSES = 3  # of a network, of its broadcast, and of its gateway
_PREFIX_LENGTH = 24  # Swarm's default


def addresses_in(prefix_length: int) -> int:
    """Return the number of addresses that an overlay network has for tasks and for nodes, which take one each."""
    return int(2 ** (32 - (prefix_length or _PREFIX_LENGTH))) - _RESERVED_ADDRESSES
