"""A storage controller that need not be there when Zoe begins: it is spoken to, and told apart, at the first call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage_bridge.base import StorageController
from storage_bridge.crystal import ControllerSettings, Line, connect
from storage_bridge.model import (
    Achieved,
    BandwidthDemand,
    BandwidthSlo,
    Feasibility,
    Missed,
    StorageCapacity,
    View,
    ViewSample,
)


class LazyController:
    """Every call raises StorageUnavailableError until the controller has answered once."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings
        self._line = Line(settings)
        self._found: StorageController | None = None

    def capacity(self) -> StorageCapacity:
        """What the store can move and what is promised."""
        return self._reached().capacity()

    def feasible(self, demand: BandwidthDemand) -> Feasibility:
        """Whether one more demand fits."""
        return self._reached().feasible(demand)

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """The SLOs in force, by tenant."""
        return self._reached().slos()

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force."""
        self._reached().set_slo(tenant, slo)

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO."""
        self._reached().clear_slo(tenant)

    def views(self) -> Sequence[View]:
        """The views there are."""
        return self._reached().views()

    def create_view(self, view: View) -> None:
        """Make a view."""
        self._reached().create_view(view)

    def sample(self, view_id: str) -> ViewSample:
        """What a part of a view's source takes to read."""
        return self._reached().sample(view_id)

    def drop_view(self, view_id: str) -> None:
        """Remove a view."""
        self._reached().drop_view(view_id)

    def achieved(self) -> Mapping[str, Achieved]:
        """What each tenant got lately."""
        return self._reached().achieved()

    def missed(self) -> Mapping[str, Missed]:
        """By how much SLOs cannot be met."""
        return self._reached().missed()

    def resting(self) -> bool:
        """Whether it is left alone for a while."""
        return self._line.resting

    def locality(self, uri: str) -> Sequence[str]:
        """The storage nodes that hold an object."""
        return self._reached().locality(uri)

    def _reached(self) -> StorageController:
        if self._found is None:
            self._found = connect(self._settings, self._line)
        return self._found
