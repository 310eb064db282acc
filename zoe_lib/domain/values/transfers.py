"""What executions moved to and from the object store with credentials of their own: bytes of bodies, not of headers."""

from __future__ import annotations

from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class StoreTransfers:
    """What an execution moved with the credentials that have ended, one for each attempt.

    generation: of the newest of these. transferring_s: seconds in which any request waited for the store or moved
    bytes. waiting_s: the same added up over requests. whole: whether all proxies of the store have told all of it.
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
        """Return the sum with what was moved before."""
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
