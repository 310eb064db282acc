"""Client of Crystal's controller, in its dialect.

Zoe's SLOs are marked by their policy id and never expire: if a master does not come back, they stay until the next
master's first poll.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage_bridge.crystal_dialects import ControllerDialect
from storage_bridge.http import ControllerHttp, ControllerSettings, convert_answer
from storage_bridge.model import (
    BandwidthDemand,
    BandwidthSlo,
    DemandFeasibility,
    EndedTransfers,
    StorageCapacity,
    StorageRefusedError,
    StorageUnavailableError,
    StoreExecution,
    View,
    ViewSample,
    feasibility,
)
from zoe_lib.domain.values.storage import Credential


class CrystalController:
    """Client of a Crystal controller, which has no views and does not report achieved bandwidth."""

    def __init__(self, line: ControllerHttp, settings: ControllerSettings, dialect: ControllerDialect) -> None:
        self._http = line
        self._settings = settings
        self._dialect = dialect

    def capacity(self) -> StorageCapacity:
        """Return the configured capacity, since Crystal does not report it."""
        there, promised = (
            self._settings.capacity,
            [*self.slos().values(), convert_answer(self._dialect.other_guarantees)],
        )
        return StorageCapacity(
            there.read_bytes_per_s or 0,
            there.write_bytes_per_s or 0,
            sum(slo.read_bytes_per_s or 0 for slo in promised),
            sum(slo.write_bytes_per_s or 0 for slo in promised),
        )

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
        """Decide from the sums known here: Crystal accepts any SLO."""
        return feasibility(self.capacity(), demand.slo)

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return Zoe's SLOs, by tenant."""
        return convert_answer(self._dialect.slos)

    def guarantees(self) -> Mapping[str, BandwidthSlo]:
        """Return an empty mapping: Crystal reports only the sum of other owners."""
        return {}

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force."""
        convert_answer(lambda: self._dialect.set_slo(tenant, slo))

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO."""
        self._dialect.clear_slo(tenant)

    def views(self) -> Sequence[View]:
        """Return no views: Crystal has none."""
        return ()

    def create_view(self, view: View) -> None:
        """Refuse: Crystal has no views."""
        raise StorageRefusedError(f"this storage controller does not support views ({view.id})")

    def sample(self, view_id: str, token: str = "") -> ViewSample:  # noqa: ARG002 - it reads nothing
        """Refuse: Crystal has no views."""
        raise StorageRefusedError(f"this storage controller does not support views ({view_id})")

    def drop_view(self, view_id: str) -> None:
        """Do nothing: Crystal has no views."""

    def achieved_bandwidth(self) -> None:
        """Return None: not reported."""

    def missed_bandwidth(self) -> None:
        """Return None: not reported."""

    def clients(self) -> None:
        """Return None: not reported."""

    def executions(self) -> None:
        """Return None: Crystal knows tenants only."""

    def set_execution(self, execution: StoreExecution) -> Credential:
        """Refuse: Crystal knows tenants only."""
        raise StorageUnavailableError(
            f"this storage controller does not support credentials of executions ({execution.id})"
        )

    def drop_execution(self, execution_id: str) -> None:
        """Do nothing: Crystal knows tenants only."""

    def ended_transfers(self) -> Sequence[EndedTransfers]:
        """Return nothing: Crystal knows tenants only."""
        return []

    def forget_transfers(self, generation: int) -> None:
        """Do nothing: Crystal knows tenants only."""

    def circuit_open(self) -> bool:
        """Return whether requests pause after several failures."""
        return self._http.circuit_open

    def locality(self, tenant: str, uri: str, token: str = "") -> None:
        """Return None: Crystal reports where an object of a name would be, but not which objects exist below a
        prefix.
        """
