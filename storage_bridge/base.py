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
    """Holds bandwidth SLOs and views. Idempotent by tenant and by view.

    Every call answers within a bounded time or raises StorageUnavailableError, also for an answer that makes no sense;
    then its effect is unknown, and the caller repeats it. `slos` and `views` report only what this Zoe has put there;
    what others have only counts in `capacity`.
    """

    def capacity(self) -> StorageCapacity:
        """Return how much the store can move and how much is promised."""
        ...

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
        """Return whether one more demand fits."""
        ...

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return the SLOs in force, by tenant."""
        ...

    def promised(self) -> Mapping[str, BandwidthSlo]:
        """Return what each tenant is promised by everybody: this Zoe, others, rules and standing SLOs. Nothing where
        the controller does not tell.
        """
        ...

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force; StorageRefusedError, with a sentence for users."""
        ...

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO; do nothing if there is none."""
        ...

    def views(self) -> Sequence[View]:
        """Return all views."""
        ...

    def create_view(self, view: View) -> None:
        """Create a view, with its token; do nothing if it exists."""
        ...

    def sample(self, view_id: str, token: str = "") -> ViewSample:
        """Return what reading part of a view's source takes, plainly and through the view, with the token of its
        tenant.
        """
        ...

    def drop_view(self, view_id: str) -> None:
        """Remove a view; do nothing if there is none."""
        ...

    def achieved(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return what each tenant recently got; None if the controller does not report it."""
        ...

    def missed(self) -> Mapping[str, MissedBandwidth] | None:
        """Return the missing amounts of active tenants' SLOs, only those that are missed; None if not reported."""
        ...

    def clients(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return what was recently moved to and from each address; None if the controller does not report it."""
        ...

    def executions(self) -> Mapping[str, ExecutionBandwidth] | None:
        """Return this Zoe's executions with credentials; None if the controller offers none."""
        ...

    def set_execution(self, execution: StoreExecution) -> Credential:
        """Create an execution's credential, or change its guarantee; return the credential, which stays the same.
        StorageRefusedError.
        """
        ...

    def drop_execution(self, execution_id: str) -> None:
        """End an execution's credential; do nothing if there is none."""
        ...

    def ended_transfers(self) -> Sequence[EndedTransfers]:
        """Return what was moved with credentials that have ended, once it is settled, until it is forgotten; some of
        the oldest ones.
        """
        ...

    def forget_transfers(self, generation: int) -> None:
        """Forget what was moved with a credential that has ended; do nothing if nothing is known of it."""
        ...

    def circuit_open(self) -> bool:
        """Return whether it is left alone for a while after several failures; makes no request."""
        ...

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
        """Return where the objects of a tenant's URI lie, as its token may list them; None if unknown."""
        ...
