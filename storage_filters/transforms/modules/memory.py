"""Memory of modules in a process of the proxy, in total and by tenant.

A run holds the memory of its instance and its output. Before each piece, its limit is set to half of the memory that
other tenants leave. So one tenant takes at most half of all memory, the next one half of the rest, and each later one
finds some left.
"""

from __future__ import annotations

from collections import Counter

OF_PROCESS_BYTES = 2**30
OUTPUT_BYTES = 256 * 1024
"""Output that a run may always write for a piece of at most 64 KiB."""
RUN_BYTES = OUTPUT_BYTES + 128 * 1024
"""Overhead of an instance, beside its memory."""


class MemoryBudget:
    """Memory of all modules of a process. total: bytes."""

    def __init__(self, total: int = OF_PROCESS_BYTES) -> None:
        self._total = total
        self._held: Counter[str] = Counter()

    @property
    def held_bytes(self) -> int:
        """Return the bytes that modules hold now."""
        return self._held.total()

    def share(self, tenant: str) -> MemoryShare:
        """Return a share for one run of a module for this tenant."""
        return MemoryShare(self, tenant)

    def room(self, tenant: str) -> int:
        """Return how many more bytes a tenant may take now; negative if it holds more than its limit since other
        tenants came.
        """
        own = self._held[tenant]
        return (self._total - (self.held_bytes - own)) // 2 - own

    def change(self, tenant: str, by: int) -> None:
        """Book bytes that a run of a tenant takes (positive) or returns (negative)."""
        self._held[tenant] += by
        if not self._held[tenant]:
            del self._held[tenant]


class MemoryShare:
    """Memory share of one run."""

    def __init__(self, budget: MemoryBudget | None, tenant: str = "") -> None:
        self._budget = budget
        self._tenant = tenant
        self._held = 0

    @property
    def room(self) -> int:
        """Return how many more bytes the run may take, with the bytes that it holds."""
        return OF_PROCESS_BYTES if self._budget is None else max(0, self._budget.room(self._tenant))

    def hold(self, count: int) -> None:
        """Record that the run holds so many bytes."""
        if self._budget is not None and count != self._held:
            self._budget.change(self._tenant, count - self._held)
        self._held = count

    def close(self) -> None:
        """Return all memory of the run."""
        self.hold(0)


def unbounded_share() -> MemoryShare:
    """Return a share that counts nothing, for a module that runs alone."""
    return MemoryShare(None)
