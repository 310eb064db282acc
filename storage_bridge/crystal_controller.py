"""Crystal's own controller, in the dialect that it speaks.

What is ours there is marked by its policy id and never expires: what a master leaves behind that does not come back
stays until the next one's first look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage_bridge.crystal_dialects import ControllerDialect
from storage_bridge.http import ControllerHttp, ControllerSettings, understood
from storage_bridge.model import (
    BandwidthDemand,
    BandwidthSlo,
    DemandFeasibility,
    StorageCapacity,
    StorageUnavailableError,
    View,
    ViewSample,
    feasibility,
)


class CrystalController:
    """A controller of Crystal's kind. It has no views and does not say what it achieves."""

    def __init__(self, line: ControllerHttp, settings: ControllerSettings, dialect: ControllerDialect) -> None:
        self._http = line
        self._settings = settings
        self._dialect = dialect

    def capacity(self) -> StorageCapacity:
        """What was configured, since it does not tell."""
        there, promised = self._settings.capacity, [*self.slos().values(), understood(self._dialect.others)]
        return StorageCapacity(
            there.read_bytes_per_s or 0,
            there.write_bytes_per_s or 0,
            sum(slo.read_bytes_per_s or 0 for slo in promised),
            sum(slo.write_bytes_per_s or 0 for slo in promised),
        )

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
        """Counted here: it takes any SLO."""
        return feasibility(self.capacity(), demand.slo)

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Ours, by tenant."""
        return understood(self._dialect.slos)

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force."""
        understood(lambda: self._dialect.set_slo(tenant, slo))

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO."""
        self._dialect.clear_slo(tenant)

    def views(self) -> Sequence[View]:
        """None: it has no such thing."""
        return ()

    def create_view(self, view: View) -> None:
        """Cannot be."""
        raise StorageUnavailableError(f"this storage controller makes no views ({view.id})")

    def sample(self, view_id: str, token: str = "") -> ViewSample:  # noqa: ARG002 - it reads nothing
        """There is none."""
        raise StorageUnavailableError(f"this storage controller makes no views ({view_id})")

    def drop_view(self, view_id: str) -> None:
        """There is none."""

    def achieved(self) -> None:
        """Not told."""

    def missed(self) -> None:
        """Not told."""

    def clients(self) -> None:
        """Not told."""

    def circuit_open(self) -> bool:
        """Return whether it is left alone for a while."""
        return self._http.circuit_open

    def locality(self, tenant: str, uri: str, token: str = "") -> None:
        """Not known: it tells where an object of a name would be, and not which objects there are below a prefix."""
