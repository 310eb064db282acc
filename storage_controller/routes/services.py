"""Services for the routes, one for each subject."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from storage_bridge.model import AchievedBandwidth, MissedBandwidth, View, ViewSample
from storage_controller.answers import RequestRefusedError
from storage_controller.database.controller_ledger import ControllerLedger
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.supervision import Supervisor
from storage_controller.metrics.added import AddedMetrics
from storage_controller.metrics.metric_store import MetricLedger
from storage_controller.metrics.values import Readings
from storage_controller.nodes.restarts import NodeRestarts
from storage_controller.nodes.watch import StoreNodes
from storage_controller.promises.filter_cores import CpuBounds
from storage_controller.promises.promisable import Promisable
from storage_controller.regulation.controllers import Controllers
from storage_controller.rules.module_ledger import ModuleLedger
from storage_controller.rules.rule_store import RuleLedger
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_controller.swift.kept_views import KeptViews
from storage_controller.swift.objects import SwiftObjects
from storage_controller.swift.places import SwiftPlaces
from storage_controller.swift.rewrite_ledger import RewriteLedger
from storage_controller.swift.storage_policies import PolicyMaker
from storage_controller.swift.stored_filters import Done, StoredObject
from storage_controller.traffic.contents import Contents
from storage_controller.traffic.traffic import Traffic

PLACES = "show where objects are stored"
"""Purpose of the connection to Swift, for errors."""


class Reports(Protocol):
    """Reports of proxies and object servers, and their effects on bandwidth and rules."""

    traffic: Traffic
    of_signers: Traffic
    """With the signing user in place of the container."""
    of_nodes: Traffic
    """With an object server in place of the proxy."""
    contents: Contents

    def achieved_by_tenant(self) -> Mapping[str, AchievedBandwidth]:
        """Return the bandwidth of each tenant, in bytes per second."""

    def achieved_by_execution(self) -> Mapping[str, AchievedBandwidth]:
        """Return the same by execution."""

    def clients(self) -> Mapping[str, AchievedBandwidth]:
        """Return the same by address."""

    def missed_by_tenant(self) -> Mapping[str, MissedBandwidth]:
        """Return the shortfall of each tenant's SLO."""

    def counts_transfers(self) -> bool:
        """Return whether all proxies report the transfers of executions."""

    def hosted_filters(self) -> Collection[str]:
        """Return the filters that all proxies have."""

    def hosted_by(self) -> Mapping[str, Collection[str]]:
        """Return the filters that each proxy has."""

    def caches(self) -> Mapping[str, Mapping[str, tuple[int, int]]]:
        """Return events and bytes, by name of the event, for the cache of each proxy."""

    def silent_s(self) -> Mapping[str, float]:
        """Return the seconds since the last report of each proxy."""

    def silent_nodes_s(self) -> Mapping[str, float]:
        """Return the same for object servers that enforce bandwidth."""

    def metrics(self) -> Mapping[int, Mapping[str, float]]:
        """Return the values of the metrics of each rule."""

    def active(self) -> Mapping[str, bool]:
        """Return whether the condition of each rule with metrics holds, by its controller."""


@dataclass(frozen=True, slots=True)
class Swift:
    """The controller's interface to Swift."""

    objects: SwiftObjects
    done: Done
    sample: Callable[[View], ViewSample]
    places: SwiftPlaces


@dataclass(frozen=True, slots=True)
class Services:
    """All services. swift: None without a connection to one. prometheus_url: for metrics of PromQL.
    rewrite_bytes_per_s: of jobs without a rate. replication_bytes_per_s: limit of replication, if there is one. keys:
    None if executions have no credentials.
    """

    ledger: Ledger
    promisable: Promisable
    reports: Reports
    views: KeptViews
    swift: Swift | None = None
    nodes: StoreNodes = field(default_factory=lambda: StoreNodes(list, NodeRestarts({}, 1.0)))
    supervisor: Supervisor = field(default_factory=Supervisor)
    readings: Readings = dict
    cpu_bounds: CpuBounds = field(default_factory=CpuBounds)
    policies: PolicyMaker = field(default_factory=lambda: PolicyMaker((), 1.0))
    prometheus_url: str | None = None
    rewrite_bytes_per_s: int = 20_000_000
    replication_bytes_per_s: int | None = None
    keys: ExecutionKeys | None = None
    rules: RuleLedger = field(init=False)
    modules: ModuleLedger = field(init=False)
    metrics: AddedMetrics = field(init=False)
    controllers: Controllers = field(init=False)
    rewrites: RewriteLedger = field(init=False)

    def __post_init__(self) -> None:
        """Build the services that follow from the ledger and the others."""
        rules, metrics = RuleLedger(self.ledger, hosted=self.reports.hosted_filters), MetricLedger(self.ledger)
        controllers = Controllers(
            ControllerLedger(self.ledger),
            rules,
            metrics,
            self.supervisor,
            self.reports.active,
            len(self.nodes.all()),
            self.replication_bytes_per_s,
            self.nodes.mode_set,
        )
        made = {
            "rules": rules,
            "modules": ModuleLedger(self.ledger),
            "metrics": AddedMetrics(metrics, rules, self.prometheus_url),
            "controllers": controllers,
            "rewrites": RewriteLedger(self.ledger),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def connected_swift(self, to: str) -> Swift:
        """Return Swift. Raises RequestRefusedError with the purpose, if the controller is not connected to one."""
        if self.swift is None:
            raise RequestRefusedError(409, f"cannot {to}: the controller is not connected to Swift; set swift_auth_url")
        return self.swift

    def stored_object(self, tenant: str, container: str, name: str) -> StoredObject | None:
        """Return a stored object with its filters; None if it does not exist. Raises RequestRefusedError."""
        return self.connected_swift("show the filters of stored objects").done(tenant, container, name)
