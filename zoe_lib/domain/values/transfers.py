"""Bytes that executions moved to and from the object store with their own credentials: bodies, without headers."""

from __future__ import annotations

from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class StoreTransfers:
    """Transfers of an execution with its ended credentials, one for each attempt.
    generation: of the newest of these. transferring_s: seconds with at least one request that waited for the store or
    moved bytes. waiting_s: the same added up over requests. whole: whether all proxies of the store have reported
    everything.
    at_s: when the journal got the newest.
    """

    generation: int
    read_bytes: int = 0
    written_bytes: int = 0
    transferring_s: float = 0.0
    waiting_s: float = 0.0
    whole: bool = True
    at_s: float = 0.0

    def with_earlier(self, earlier: StoreTransfers | None) -> StoreTransfers:
        """Return the sum with earlier transfers."""
        if earlier is None:
            return self
        return StoreTransfers(
            self.generation,
            self.read_bytes + earlier.read_bytes,
            self.written_bytes + earlier.written_bytes,
            self.transferring_s + earlier.transferring_s,
            self.waiting_s + earlier.waiting_s,
            self.whole and earlier.whole,
            self.at_s,
        )
