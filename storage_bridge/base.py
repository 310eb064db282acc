"""What the master asks of a storage controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage_bridge.model import (
    AchievedBandwidth,
    BandwidthDemand,
    BandwidthSlo,
    DemandFeasibility,
    MissedBandwidth,
    StorageCapacity,
    View,
    ViewSample,
)
from zoe_lib.domain.locality import Places


class StorageController(Protocol):
    """Holds bandwidth SLOs and views. Idempotent by tenant and by view.

    Every call answers within a bounded time or raises StorageUnavailableError, also for an answer that makes no sense;
    then nothing is known of what it did, and the caller makes it so again. What `slos` and `views` report is what this
    Zoe has put there; what others have is only counted, in `capacity`.
    """

    def capacity(self) -> StorageCapacity:
        """Return what the store can move and what is promised."""
        ...

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
        """Return whether one more demand fits."""
        ...

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return the SLOs in force, by tenant."""
        ...

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force; StorageRefusedError, with a sentence for users."""
        ...

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO; nothing when there is none."""
        ...

    def views(self) -> Sequence[View]:
        """Return the views there are."""
        ...

    def create_view(self, view: View) -> None:
        """Make a view, with the token that it has; nothing when it is there already."""
        ...

    def sample(self, view_id: str, token: str = "") -> ViewSample:
        """What a part of a view's source takes to read, plainly and through it, with the token of its tenant."""
        ...

    def drop_view(self, view_id: str) -> None:
        """Remove a view; nothing when there is none."""
        ...

    def achieved(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return what each tenant got lately; None where the controller does not tell."""
        ...

    def missed(self) -> Mapping[str, MissedBandwidth] | None:
        """By how much SLOs of active tenants cannot be met, only those that are missed; None where it does not tell."""
        ...

    def clients(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return what was moved to and from each address lately; None where the controller does not tell."""
        ...

    def circuit_open(self) -> bool:
        """Return whether it failed several times and is left alone for a while; asks nothing."""
        ...

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
        """Return where the objects lie that a tenant means by a URI, as its token may list them; None if it is not
        known."""
        ...
