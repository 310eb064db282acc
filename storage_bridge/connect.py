"""Which storage controller is there is found out by asking; it need not be there when Zoe begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage_bridge.base import StorageController
from storage_bridge.crystal_controller import CrystalController
from storage_bridge.crystal_dialects import AppendixDialect, LaterDialect
from storage_bridge.http import ControllerHttp, ControllerSettings
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
from storage_bridge.zoe_controller import ZoeController
from zoe_lib.domain.locality import Places


def connect(settings: ControllerSettings, line: ControllerHttp | None = None) -> CrystalController | ZoeController:
    """Speak to whatever controller is there, by what it answers. StorageUnavailableError."""
    line = line or ControllerHttp(settings)
    if line.ask("GET", "/v1/capacity", absent=False) is not False:
        return ZoeController(line, settings)
    later = line.ask("GET", "/policies/slos", absent=False) is not False
    return CrystalController(line, settings, (LaterDialect if later else AppendixDialect)(line, settings.owner))


class LazyController:
    """Whatever is found there at the first call; until it has answered once, all raise StorageUnavailableError."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings
        self._http = ControllerHttp(settings)
        self._found: StorageController | None = None

    def capacity(self) -> StorageCapacity:
        """What the store can move and what is promised."""
        return self._reached().capacity()

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
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

    def sample(self, view_id: str, token: str = "") -> ViewSample:
        """What a part of a view's source takes to read."""
        return self._reached().sample(view_id, token)

    def drop_view(self, view_id: str) -> None:
        """Remove a view."""
        self._reached().drop_view(view_id)

    def achieved(self) -> Mapping[str, AchievedBandwidth] | None:
        """What each tenant got lately, where it is told."""
        return self._reached().achieved()

    def missed(self) -> Mapping[str, MissedBandwidth] | None:
        """By how much SLOs cannot be met, where it is told."""
        return self._reached().missed()

    def clients(self) -> Mapping[str, AchievedBandwidth] | None:
        """What was moved to and from each address, where it is told."""
        return self._reached().clients()

    def circuit_open(self) -> bool:
        """Whether it is left alone for a while."""
        return self._http.circuit_open

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
        """Where the objects lie that a tenant means by a URI."""
        return self._reached().locality(tenant, uri, token)

    def _reached(self) -> StorageController:
        if self._found is None:
            self._found = connect(self._settings, self._http)
        return self._found
