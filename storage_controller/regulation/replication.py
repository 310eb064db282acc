"""The controller `replication`: limits the rate of replication between the store's nodes."""

from __future__ import annotations

from collections.abc import Sequence

from storage_bridge.bandwidth.assignment import TransferClaim
from storage_controller.database.controller_ledger import REPLICATION_CONTROLLER, ControllerLedger
from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.regulation.replication_spare import Disks, spare, steady
from zoe_lib.clock import SYSTEM_CLOCK, Clock

NO_LIMIT = 0
Pace = int | Disks
"""Bytes per second of each object server for replication, or the disks that it shares with tenants."""


class ReplicationPace:
    """Returns the rate for the present mode. pace: None without such a controller."""

    def __init__(
        self,
        kept: ControllerLedger,
        supervisor: Supervisor,
        pace: Pace | None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._kept = kept
        self._supervisor = supervisor
        self._pace = pace
        self._clock = clock
        self._mode = Mode.ON
        self._before: tuple[int, float] | None = None
        self._last = NO_LIMIT

    def look(self) -> None:
        """Read the mode. Raises the errors of the database; the last mode stays in force."""
        if self._pace is not None:
            self._mode = self._kept.mode(REPLICATION_CONTROLLER)

    def rate(self, claims: Sequence[TransferClaim] | None) -> int:
        """Return the bytes per second for nodes; NO_LIMIT without a limit. claims: present ones of tenants; None while
        no proxy reports.
        """
        if self._pace is None or self._mode is Mode.OFF or not self._supervisor.ready(REPLICATION_CONTROLLER):
            return NO_LIMIT if self._mode is not Mode.ON else self._last
        with self._supervisor.run(REPLICATION_CONTROLLER):
            self._last = self._pace if isinstance(self._pace, int) else self._rate_beside_tenants(self._pace, claims)
            would = "would hold" if self._mode is Mode.DRY else "holds"
            left = "" if isinstance(self._pace, int) else ", the rest beside guarantees"
            rate = f"{self._last / 1e6:.3g} MB/s"
            self._supervisor.record_action(
                REPLICATION_CONTROLLER, f"{would} replication to each object server at {rate}{left}"
            )
        return NO_LIMIT if self._mode is Mode.DRY else self._last

    def _rate_beside_tenants(self, disks: Disks, claims: Sequence[TransferClaim] | None) -> int:
        now_s = self._clock.monotonic_s()
        wanted = disks.least if claims is None else spare(disks, claims)
        before, at_s = self._before or (None, now_s)
        found = steady(disks, before, wanted, now_s - at_s)
        self._before = found, now_s
        return found
