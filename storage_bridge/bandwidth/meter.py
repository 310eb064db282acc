"""From what a node moved, told several times a second, to the rates of its transfers, and which of them continue."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from storage_bridge.bandwidth.assignment import ClaimKey
from storage_bridge.bandwidth.regulator import TransferReport, Transfers

WINDOW_S = 1.0
"""Rates are means of so many seconds: pieces and disks make shorter ones jump."""
ACTIVE_S = 0.75
"""Who neither moved something nor waited for its turn for so long has no transfer; writers wait for the disks, too."""


@dataclass(frozen=True, slots=True)
class TransferProgress:
    """Bytes that each claim moved within `seconds`; zero for one that only waited for its turn."""

    seconds: float
    amounts: Mapping[ClaimKey, int]


class Meter:
    """Of one node."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._lately: deque[TransferProgress] = deque()

    def add(self, moved: TransferProgress, at_s: float) -> TransferReport:
        """Take in what has just been told; what there is to report now."""
        self._lately.append(moved)
        while sum(one.seconds for one in self._lately) - self._lately[0].seconds >= WINDOW_S:
            self._lately.popleft()
        keys = sorted({key for one in self._lately for key in one.amounts})
        found = (self._transfers(key) for key in keys)
        return TransferReport(self._node, at_s, tuple(one for one in found if one is not None))

    def _transfers(self, key: ClaimKey) -> Transfers | None:
        """From its first bytes on, so that who has just begun is not taken for slow; None if it has ended."""
        amounts = [one.amounts.get(key, 0) for one in self._lately]
        moving = [number for number, one in enumerate(self._lately) if key in one.amounts]
        seconds = [one.seconds for one in self._lately]
        if not moving or sum(seconds[moving[-1] + 1 :]) >= ACTIVE_S:
            return None
        rate = sum(amounts) / sum(seconds[moving[0] :])
        return Transfers(key[0], self._node, rate, key[1])
