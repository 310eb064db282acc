"""What memory modules take in a process of the proxy, together and of each tenant.

A run holds the memory of its instance and what it wrote. Before each piece it learns how much more it may take: half of
what other tenants leave. So one tenant takes half of all at most, and the next one half of the rest; none takes what is
left of the last.
"""

from __future__ import annotations

from collections import Counter

OF_PROCESS_BYTES = 2**30
OUTPUT_BYTES = 256 * 1024
"""What a run may always write for a piece of at most 64 KiB."""
RUN_BYTES = OUTPUT_BYTES + 128 * 1024
"""Of an instance, beside its memory."""


class MemoryBudget:
    """The memory of all modules of a process. total: bytes."""

    def __init__(self, total: int = OF_PROCESS_BYTES) -> None:
        self._total = total
        self._held: Counter[str] = Counter()

    @property
    def held(self) -> int:
        """Return the bytes that modules hold now."""
        return self._held.total()

    def share(self, tenant: str) -> MemoryShare:
        """Return a share for one run of a module for this tenant."""
        return MemoryShare(self, tenant)

    def room(self, tenant: str) -> int:
        """Return how many bytes more a tenant may take now; below 0 if it has more than it may since others came."""
        own = self._held[tenant]
        return (self._total - (self.held - own)) // 2 - own

    def change(self, tenant: str, by: int) -> None:
        """Book bytes that a run of a tenant takes or gives back."""
        self._held[tenant] += by
        if not self._held[tenant]:
            del self._held[tenant]


class MemoryShare:
    """What one run holds."""

    def __init__(self, budget: MemoryBudget | None, tenant: str = "") -> None:
        self._budget = budget
        self._tenant = tenant
        self._held = 0

    @property
    def room(self) -> int:
        """Return how many bytes more the run may take; it keeps what it holds."""
        return OF_PROCESS_BYTES if self._budget is None else max(0, self._budget.room(self._tenant))

    def hold(self, count: int) -> None:
        """Note that the run holds so many bytes."""
        if self._budget is not None and count != self._held:
            self._budget.change(self._tenant, count - self._held)
        self._held = count

    def close(self) -> None:
        """Give back all that the run holds."""
        self.hold(0)


def unbounded() -> MemoryShare:
    """Return a share that counts nothing, for a module that runs alone."""
    return MemoryShare(None)
