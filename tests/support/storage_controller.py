"""Our own storage controller, served over HTTP with a real database, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

import httpx
import sqlalchemy as sa

from storage_bridge.http import ControllerSettings
from storage_bridge.model import AchievedBandwidth, BandwidthSlo, MissedBandwidth, View, ViewSample
from storage_controller.answers import RequestRefusedError
from storage_controller.app import RequestCheck, make_app
from storage_controller.database.controller_ledger import ControllerLedger
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.dialects import SpokenDialect
from storage_controller.metrics.values import Reading
from storage_controller.nodes.restarts import NodeRestarts
from storage_controller.nodes.watch import NodeWatch, StoreNodes
from storage_controller.promises.filter_cores import CpuBounds
from storage_controller.promises.promisable import Promisable
from storage_controller.routes.services import Services, Swift
from storage_controller.settings import NodeSettings
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_controller.swift.http import SwiftAdmin, SwiftHttp
from storage_controller.swift.kept_views import KeptViews
from storage_controller.swift.objects import SwiftObjects
from storage_controller.swift.places import SwiftPlaces
from storage_controller.swift.stored_filters import done_at
from storage_controller.traffic.traffic import Traffic
from tests.support import serving
from tests.support.controller_reports import GivenReports
from tests.support.manual_clock import ManualClock
from zoe_client.http.tls import verification
from zoe_lib.http.strict_http import StrictHttp

MB = 10**6
PATIENCE_S = 60.0
TOKEN = "controller-token"
SAMPLE = ViewSample(10**9, 10**7, 10**5, 2 * 10**5, 0.1, 0.05, 10**8, ("id", "kwh"))


@dataclass
class Served:
    """A running controller. `made` and `removed`: views requested of Swift."""

    url: str
    engine: sa.Engine
    ledger: Ledger
    clock: ManualClock
    achieved: dict[str, AchievedBandwidth] = field(default_factory=dict)
    missed: dict[str, MissedBandwidth] = field(default_factory=dict)
    made: list[View] = field(default_factory=list)
    removed: list[View] = field(default_factory=list)
    refuses: RequestRefusedError | None = None
    strangers: set[str] = field(default_factory=set)
    proxies: dict[str, int] = field(default_factory=dict)
    """Maximum transfer of each proxy; reported before the first request."""
    hosted_by: dict[str, frozenset[str]] = field(default_factory=dict)
    silent_s: dict[str, float] = field(default_factory=dict)
    """By proxy, its filters, and how long it has not reported."""
    supervisor: Supervisor = field(default_factory=Supervisor)
    readings: dict[str, Reading] = field(default_factory=dict)
    active: dict[str, bool] = field(default_factory=dict)
    rule_metrics: dict[int, dict[str, float]] = field(default_factory=dict)
    """Return actions of controllers, values of added metrics, active rules, and the values they compare."""
    keeps: set[str] = field(default_factory=set)
    """Ids of views that Swift does not remove."""
    making: threading.Event | None = None
    """Views are made when it is set."""
    begun: threading.Event = field(default_factory=threading.Event)
    """Set when a view is being made."""
    counting: Callable[[], bool] = lambda: False
    """Whether all proxies report what executions move."""
    views: KeptViews = field(init=False)
    sampled: ViewSample = field(default_factory=lambda: SAMPLE)
    traffic: Traffic = field(default_factory=lambda: Traffic(lambda account: account))
    of_signers: Traffic = field(default_factory=lambda: Traffic(lambda account: account))
    of_nodes: Traffic = field(default_factory=lambda: Traffic(lambda account: account))

    def counts(self) -> bool:
        return self.counting()

    def reports(self) -> GivenReports:
        return GivenReports(
            self.traffic,
            self.of_signers,
            self.of_nodes,
            rates=self.achieved,
            missing=self.missed,
            filters=self.hosted_by,
            silence_s=self.silent_s,
            values=self.rule_metrics,
            holding=self.active,
            counting=self.counts,
        )

    def make(self, view: View) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.begun.set()
        if self.making is not None:
            assert self.making.wait(PATIENCE_S)
        self.made.append(view)

    def remove(self, view: View) -> None:
        if view.id in self.keeps:
            raise RequestRefusedError(503, "Swift answers 409 to the removal of a view")
        self.removed.append(view)

    def settings(self, owner: str = "zoe", **changes: object) -> ControllerSettings:
        capacity = BandwidthSlo(100 * MB, 100 * MB)
        patient: dict[str, object] = {"timeout_s": PATIENCE_S, **changes}
        return ControllerSettings(self.url, TOKEN, owner, capacity, **patient)  # type: ignore[arg-type]

    def http(self, token: str = TOKEN) -> httpx.Client:
        return httpx.Client(
            base_url=self.url,
            headers={"X-Auth-Token": token, "User-Agent": "test"},
            timeout=PATIENCE_S,
            verify=verification(self.url),
        )


@contextmanager
def served_controller(
    database_url: str,
    keys: ExecutionKeys | None = None,
    dialect: SpokenDialect = SpokenDialect.BOTH,
    prometheus_url: str | None = None,
    nodes: Mapping[str, NodeSettings] = MappingProxyType({}),
    cpu_bounds: CpuBounds | None = None,
    port: int = 0,
    capacity: BandwidthSlo = BandwidthSlo(100 * MB, 100 * MB),  # noqa: B008 - a frozen value
) -> Iterator[Served]:
    """Serve it on a port of loopback, by default a free one."""
    engine = sa.create_engine(database_url)
    clock = ManualClock(1000.0)
    ledger = Ledger(engine, clock)
    served = Served("", engine, ledger, clock)
    served.views = KeptViews(ledger, served.make, served.remove)
    watch = NodeWatch(nodes, served.supervisor, lambda: Mode.ON, timeout_s=PATIENCE_S)
    if nodes:
        watch.look()
    line = SwiftHttp(SwiftAdmin("http://127.0.0.1:1/auth/v1.0", "admin", "key"))
    services = Services(
        ledger,
        Promisable(
            capacity,
            lambda tenant: tenant not in served.strangers,
            served.proxies,
            ControllerLedger(ledger).caveats,
        ),
        served.reports(),
        served.views,
        Swift(SwiftObjects(line), done_at(line), lambda _: served.sampled, SwiftPlaces(line, ledger.view)),
        StoreNodes(watch.nodes, NodeRestarts(nodes, PATIENCE_S), watch.mode_set),
        served.supervisor,
        lambda: served.readings,
        cpu_bounds or CpuBounds(),
        prometheus_url=prometheus_url,
        keys=keys,
    )
    checked = make_app(services, RequestCheck(TOKEN, dialect=dialect))
    app = serving.Served(checked, port, http=StrictHttp, loop="asyncio")
    served.url = app.url
    try:
        yield served
    finally:
        app.close()
        watch.close()
        engine.dispose()
