"""The interface between the master and storage controllers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage_bridge.model import (
    AchievedBandwidth,
    BandwidthDemand,
    BandwidthSlo,
    DemandFeasibility,
    EndedTransfers,
    ExecutionBandwidth,
    MissedBandwidth,
    StorageCapacity,
    StoreExecution,
    View,
    ViewSample,
)
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.storage import Credential


class StorageController(Protocol):
    """Interface of a storage controller for bandwidth SLOs and views. Idempotent by tenant and by view.

    Every call answers within a bounded time or raises StorageUnavailableError, also for an invalid answer; then its
    effect is unknown, and the caller repeats it. `slos` and `views` return only the objects of this Zoe; those of other
    owners only count in `capacity`.
    """

    def capacity(self) -> StorageCapacity:
        """Return the capacity of the store, and the guaranteed part."""
        ...

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
        """Return whether one more demand fits."""
        ...

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return the SLOs in force, by tenant."""
        ...

    def guarantees(self) -> Mapping[str, BandwidthSlo]:
        """Return all guarantees of each tenant: from this Zoe, other owners, rules and standing SLOs. Empty if the
        controller does not report them.
        """
        ...

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force. Raises StorageRefusedError, with a sentence for users."""
        ...

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO, if it exists."""
        ...

    def views(self) -> Sequence[View]:
        """Return all views."""
        ...

    def create_view(self, view: View) -> None:
        """Create a view, with its token; do nothing if it exists."""
        ...

    def sample(self, view_id: str, token: str = "") -> ViewSample:
        """Measure reading part of a view's source, plainly and through the view, with the token of its tenant."""
        ...

    def drop_view(self, view_id: str) -> None:
        """Remove a view, if it exists."""
        ...

    def achieved_bandwidth(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return the recent bandwidth of each tenant; None if the controller does not report it."""
        ...

    def missed_bandwidth(self) -> Mapping[str, MissedBandwidth] | None:
        """Return the shortfall of active tenants' SLOs, without tenants that have none; None if not reported."""
        ...

    def clients(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return the recent bandwidth of each client address; None if the controller does not report it."""
        ...

    def executions(self) -> Mapping[str, ExecutionBandwidth] | None:
        """Return this Zoe's executions with credentials; None if the controller offers none."""
        ...

    def set_execution(self, execution: StoreExecution) -> Credential:
        """Create an execution's credential, or change its guarantee; return the credential, which stays the same.
        Raises StorageRefusedError.
        """
        ...

    def drop_execution(self, execution_id: str) -> None:
        """End an execution's credential, if it exists."""
        ...

    def ended_transfers(self) -> Sequence[EndedTransfers]:
        """Return settled transfers with ended credentials, until they are forgotten; some of the oldest ones."""
        ...

    def forget_transfers(self, generation: int) -> None:
        """Forget the transfers of an ended credential, if there are any."""
        ...

    def circuit_open(self) -> bool:
        """Return whether requests pause after several failures; makes no request."""
        ...

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
        """Return the places of the objects of a tenant's URI that its token may list; None if unknown."""
        ...
