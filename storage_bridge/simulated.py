"""A storage controller in memory: for simulations and for tests of its clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from storage_bridge.bandwidth.assignment import BandwidthAssignment, Capacity, TransferClaim, TransferKind, assign
from storage_bridge.model import (
    AchievedBandwidth,
    BandwidthDemand,
    BandwidthSlo,
    DemandFeasibility,
    EndedTransfers,
    ExecutionBandwidth,
    MissedBandwidth,
    StorageCapacity,
    StorageUnavailableError,
    StoreExecution,
    TransferTotals,
    View,
    ViewSample,
    feasibility,
)
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.storage import Credential


class SimulatedController:
    """Holds SLOs and views, and divides bandwidth by the real algorithm among the given transfers.

    `transfers` returns the present claims, without their SLOs. While `down` is set every call raises
    StorageUnavailableError. SLOs beyond the capacity are accepted, as in Crystal; the caller has to count.
    """

    def __init__(
        self,
        capacity: Capacity,
        transfers: Callable[[], Sequence[TransferClaim]] = tuple,
        places: Mapping[tuple[str, str], Places] | None = None,
        floor: int = 1,
    ) -> None:
        self._capacity = capacity
        self._transfers = transfers
        self._places = places or {}
        self._floor = floor
        self._slos: dict[str, BandwidthSlo] = {}
        self.standing: Mapping[str, BandwidthSlo] = {}
        """Guarantees of other owners to tenants: standing SLOs and rules."""
        self._views: dict[str, View] = {}
        self._executions: dict[str, StoreExecution] = {}
        self.with_credentials = False
        self.totals: dict[str, TransferTotals] = {}
        """Transfers of executions with credentials so far; other executions are unknown."""
        self._generations: dict[str, int] = {}
        self._ended: dict[int, EndedTransfers] = {}
        self.sampled = ViewSample(10**9, 10**7, 10**5, 2 * 10**5, 0.1, 0.05)
        self.by_address: Mapping[str, AchievedBandwidth] | None = None
        self.down = False
        self.store_away = ""
        """Why the store moves nothing, though the controller answers; empty if it moves bytes."""

    @property
    def capacity_bytes_per_s(self) -> int:
        """Return the total bytes per second that it can move, even while it is down."""
        return min(self._capacity.proxy, sum(self._capacity.nodes.values()))

    @property
    def in_force(self) -> Mapping[str, BandwidthSlo]:
        """Return the SLOs in force, even while it is down."""
        return self._slos

    def capacity(self) -> StorageCapacity:
        """Return the capacity of proxies or disks, whichever is less; either direction alone could have all of it."""
        self._answer()
        both = {tenant: (self._slos.get(tenant), self.standing.get(tenant)) for tenant in {*self._slos, *self.standing}}
        read = sum(max(slo.read_bytes_per_s or 0 for slo in slos if slo) for slos in both.values())
        write = sum(max(slo.write_bytes_per_s or 0 for slo in slos if slo) for slos in both.values())
        whole = StorageCapacity(self.capacity_bytes_per_s, self.capacity_bytes_per_s, read, write)
        return replace(whole, available=BandwidthSlo(0, 0), away=(self.store_away,)) if self.store_away else whole

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
        """Return whether the sum of all guarantees stays within the capacity."""
        return feasibility(self.capacity(), demand.slo)

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return the SLOs in force, by tenant."""
        self._answer()
        return dict(self._slos)

    def guarantees(self) -> Mapping[str, BandwidthSlo]:
        """Return the SLOs in force, and those of `standing`."""
        self._answer()
        return {**self._slos, **self.standing}

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force."""
        self._answer()
        self._slos[tenant] = slo

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO."""
        self._answer()
        self._slos.pop(tenant, None)

    def views(self) -> Sequence[View]:
        """Return all views."""
        self._answer()
        return list(self._views.values())

    def create_view(self, view: View) -> None:
        """Create a view."""
        self._answer()
        self._views.setdefault(view.id, view)

    def sample(self, view_id: str, token: str = "") -> ViewSample:  # noqa: ARG002 - it reads nothing
        """Return the value of `sampled`, with the columns of the view."""
        self._answer()
        if view_id not in self._views:
            raise StorageUnavailableError(f"simulated: view {view_id} does not exist")
        return replace(self.sampled, columns=self._views[view_id].columns)

    def drop_view(self, view_id: str) -> None:
        """Remove a view."""
        self._answer()
        self._views.pop(view_id, None)

    def achieved_bandwidth(self) -> Mapping[str, AchievedBandwidth]:
        """Return the present bandwidth of each tenant with transfers."""
        self._answer()
        shared = self.assignment()
        tenants = sorted({tenant for tenant, _ in shared.rates})
        return {
            t: AchievedBandwidth(shared.total(t, TransferKind.READ), shared.total(t, TransferKind.WRITE))
            for t in tenants
        }

    def missed_bandwidth(self) -> Mapping[str, MissedBandwidth]:
        """Return the shortfall of SLOs of tenants with transfers."""
        self._answer()
        found: dict[str, dict[TransferKind, int]] = {}
        for (tenant, traffic), amount in self.assignment().missed.items():
            found.setdefault(tenant, {})[traffic] = amount
        return {t: MissedBandwidth(m.get(TransferKind.READ, 0), m.get(TransferKind.WRITE, 0)) for t, m in found.items()}

    def clients(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return the value of `by_address`."""
        self._answer()
        return self.by_address

    def executions(self) -> Mapping[str, ExecutionBandwidth] | None:
        """Return the executions with credentials, if `with_credentials` is set."""
        self._answer()
        nothing = AchievedBandwidth(0.0, 0.0)
        kept = {
            execution.id: ExecutionBandwidth(
                execution.tenant, execution.slo, nothing, self._generations[execution.id], self.totals.get(execution.id)
            )
            for execution in self._executions.values()
        }
        return kept if self.with_credentials else None

    def set_execution(self, execution: StoreExecution) -> Credential:
        """Store an execution."""
        self._answer()
        if execution.id not in self._executions:
            self._generations[execution.id] = max(self._generations.values(), default=0) + 1
        self._executions[execution.id] = execution
        generation = self._generations[execution.id]
        return Credential(f"{execution.tenant}:execution_{execution.id}_{generation}", f"key-of-{execution.id}")

    def drop_execution(self, execution_id: str) -> None:
        """Remove an execution."""
        self._answer()
        if self._executions.pop(execution_id, None) is not None:
            generation, totals = self._generations[execution_id], self.totals.pop(execution_id, None)
            self._ended[generation] = EndedTransfers(execution_id, generation, totals)

    def ended_transfers(self) -> Sequence[EndedTransfers]:
        """Return the transfers with ended credentials."""
        self._answer()
        return list(self._ended.values())

    def forget_transfers(self, generation: int) -> None:
        """Forget the transfers of an ended credential."""
        self._answer()
        self._ended.pop(generation, None)

    def circuit_open(self) -> bool:
        """Return False."""
        return False

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:  # noqa: ARG002 - it knows
        """Return the value that the constructor got."""
        self._answer()
        return self._places.get((tenant, uri))

    def assignment(self) -> BandwidthAssignment:
        """Return the present assignment of bandwidth."""
        claims = [_with_slo(claim, self._slos.get(claim.tenant)) for claim in self._transfers()]
        return assign(claims, self._capacity, self._floor)

    def _answer(self) -> None:
        if self.down:
            raise StorageUnavailableError("simulated: the controller cannot be reached")


def _with_slo(claim: TransferClaim, slo: BandwidthSlo | None) -> TransferClaim:
    if slo is None or claim.traffic is TransferKind.REPLICATION:
        return claim
    rate = slo.read_bytes_per_s if claim.traffic is TransferKind.READ else slo.write_bytes_per_s
    return TransferClaim(claim.tenant, claim.nodes, rate, claim.demand, claim.traffic)
