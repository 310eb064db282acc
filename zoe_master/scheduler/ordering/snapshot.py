"""The scheduler's input and output: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ServiceId
from zoe_lib.domain.executions.promises import BandwidthSupply
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.domain.values.storage import Located
from zoe_lib.run_times.samples import RunKey
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.reasons import Reasons
from zoe_master.scheduler.ordering.virtual_time import ExecutionArrival
from zoe_master.scheduler.placement.free_resources import Ledger


@value(frozen=True, slots=True)
class Snapshot:
    """The cluster and all active executions at one instant.

    `queued`: waiting executions, fastest to rank if it is a `RankedQueue`. `active`: starting, running and stopping
    ones, which hold reservations. `held`: queued executions that may not start now for a reason outside the cluster;
    they block no others. `past_runs`: expected run times in seconds, learned from past runs. `used`: core-seconds of
    each tenant, where older ones count less. `storage`: capacity for guarantees of the storage controller; None without
    a controller. `locality`: by input, how much of it each node holds; None if unknown. `departed`: the arrivals of the
    last ended executions. `correct_estimates`: backfill corrects exceeded run times. `paths`: traffic of nodes with the
    object store, by name, where measured. `bookings`: room booked for promised executions that have not started, and
    for offers. `scan_from`: where the last pass stopped its scan for executions that may pass. `accounts`: the ledger
    of these nodes and active executions, if known already; other snapshots compute it.
    """

    now_s: float
    nodes: tuple[Node, ...] = ()
    queued: tuple[Execution, ...] = ()
    active: tuple[Execution, ...] = ()
    held: Mapping[ExecutionId, Reason] = field(default_factory=dict)
    past_runs: Mapping[RunKey, float] = field(default_factory=dict)
    used: Mapping[str, float] = field(default_factory=dict)
    storage: BandwidthSupply | None = None
    departed: tuple[ExecutionArrival, ...] = ()
    locality: Mapping[Located, Places | None] = field(default_factory=dict)
    correct_estimates: bool = False
    paths: Mapping[str, PathUse] = field(default_factory=dict)
    bookings: tuple[Booking, ...] = ()
    scan_from: int = 0
    accounts: Ledger | None = field(default=None, compare=False, repr=False)

    def ledger(self) -> Ledger:
        """Return the present accounts of the nodes."""
        kept = self.accounts
        if kept is not None and kept.made_of(self.nodes, self.active, self.locality, self.paths):
            return kept.copy()
        return Ledger(self.nodes, self.active, self.locality, self.paths)

    def estimates(self, limits_first: bool = False) -> Estimates:
        """Return the expected run times."""
        return Estimates(self.past_runs, self.correct_estimates, limits_first)


@value(frozen=True, slots=True)
class Plan:
    """The decision: executions to start (every essential service placed), elastic services to add, services to stop.

    `reserved`: places for executions whose room is being made; `reasons`: one for every queued execution that does not
    start; `scan_from`: where the next pass goes on with its scan for executions that may pass, 0 after a whole one.
    """

    starts: Mapping[ExecutionId, tuple[Placement, ...]] = field(default_factory=dict)
    elastic: Mapping[ExecutionId, tuple[Placement, ...]] = field(default_factory=dict)
    reserved: Mapping[ExecutionId, tuple[Placement, ...]] = field(default_factory=dict)
    preempt: Mapping[ExecutionId, tuple[ServiceId, ...]] = field(default_factory=dict)
    reasons: Reasons = field(default_factory=Reasons)
    scan_from: int = 0

    @property
    def placements(self) -> int:
        """Return the number of placed services."""
        return sum(map(len, self.starts.values())) + sum(map(len, self.elastic.values()))
