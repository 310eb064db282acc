"""Derive the rates of transfers, and whether they continue, from frequent reports of a node's bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from storage_bridge.bandwidth.assignment import ClaimKey
from storage_bridge.bandwidth.regulator import TransferReport, Transfers

WINDOW_S = 1.0
"""Seconds of the average of rates: single pieces and disks make shorter averages jump."""
ACTIVE_S = 0.75
"""Seconds without bytes and without pieces that wait, after which a tenant has no transfer; writers also wait for
disks.
"""


@dataclass(frozen=True, slots=True)
class TransferProgress:
    """Bytes of each claim within `seconds`; zero for one that only waited for its turn.

    waiting: claims with bytes that wait at the end.
    """

    seconds: float
    amounts: Mapping[ClaimKey, int]
    waiting: frozenset[ClaimKey] = frozenset()


class Meter:
    """The meter of one node."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._lately: deque[TransferProgress] = deque()

    def add(self, moved: TransferProgress, at_s: float) -> TransferReport:
        """Add a report; return the transfers to pass on now."""
        self._lately.append(moved)
        while sum(progress.seconds for progress in self._lately) - self._lately[0].seconds >= WINDOW_S:
            self._lately.popleft()
        keys = sorted({key for progress in self._lately for key in progress.amounts})
        found = (self._transfers(key) for key in keys)
        return TransferReport(self._node, at_s, tuple(transfers for transfers in found if transfers is not None))

    def _transfers(self, key: ClaimKey) -> Transfers | None:
        """Measure from the first bytes on, so that a new transfer does not count as slow; None if it has ended."""
        amounts = [progress.amounts.get(key, 0) for progress in self._lately]
        moving = [number for number, progress in enumerate(self._lately) if key in progress.amounts]
        seconds = [progress.seconds for progress in self._lately]
        if not moving or sum(seconds[moving[-1] + 1 :]) >= ACTIVE_S:
            return None
        rate = sum(amounts) / sum(seconds[moving[0] :])
        return Transfers(key[0], self._node, rate, key[1], key in self._lately[-1].waiting)
