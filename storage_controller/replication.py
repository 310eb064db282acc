"""The controller `replication`: how fast replication between the store's nodes may be, which is pushed to them."""

from __future__ import annotations

from storage_controller.controller_ledger import REPLICATION_CONTROLLER, ControllerLedger
from storage_controller.supervision import Mode, Supervisor

NO_LIMIT = 0


class ReplicationPace:
    """Tells the rate by the mode. bytes_per_s: of each object server, for all that others send it; None: there is no
    such controller.
    """

    def __init__(self, kept: ControllerLedger, supervisor: Supervisor, bytes_per_s: int | None) -> None:
        self._kept = kept
        self._supervisor = supervisor
        self._bytes_per_s = bytes_per_s
        self._mode = Mode.ON

    def look(self) -> None:
        """Read the mode. Raises what the database raises; the last mode holds."""
        if self._bytes_per_s is not None:
            self._mode = self._kept.mode(REPLICATION_CONTROLLER)

    def rate(self) -> int:
        """Return the bytes per second to push to nodes; NO_LIMIT if they are not held."""
        if self._bytes_per_s is None or self._mode is Mode.OFF:
            return NO_LIMIT
        with self._supervisor.run(REPLICATION_CONTROLLER):
            would = "would hold" if self._mode is Mode.DRY else "holds"
            rate = f"{self._bytes_per_s / 1e6:g} MB/s"
            self._supervisor.did(REPLICATION_CONTROLLER, f"{would} what each object server is sent at {rate}")
        return NO_LIMIT if self._mode is Mode.DRY else self._bytes_per_s
