"""Build the storage controller from its parts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NoReturn, Protocol

from storage_bridge.bandwidth.regulator import RateSettings
from storage_bridge.model import BandwidthSlo, View, ViewSample
from storage_controller.answers import RequestRefusedError
from storage_controller.database.controller_ledger import HEALTH_CONTROLLER, ControllerLedger
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.lead import Lead
from storage_controller.database.supervision import Supervisor
from storage_controller.metrics.metric_store import MetricLedger
from storage_controller.metrics.own_metrics import OwnMetrics
from storage_controller.nodes.health import Bounds, NodeState
from storage_controller.nodes.restarts import NodeRestarts
from storage_controller.nodes.watch import NodeWatch, StoreNodes
from storage_controller.promises.availability import availability
from storage_controller.promises.filter_cores import CpuBounds
from storage_controller.promises.held_places import EnforcingServers
from storage_controller.promises.promisable import Promisable, at_most, limit_to_proxies
from storage_controller.regulation.regulation import Regulation
from storage_controller.regulation.replication import Pace
from storage_controller.regulation.replication_spare import Disks
from storage_controller.regulation.server_sockets import Endpoints
from storage_controller.routes.services import Services, Swift
from storage_controller.settings import ControllerSettings
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_controller.swift.kept_views import KeptViews
from storage_controller.swift.objects import SwiftObjects
from storage_controller.swift.places import SwiftPlaces
from storage_controller.swift.rewriter import Rewriter
from storage_controller.swift.storage_policies import PolicyMaker
from storage_controller.swift.stored_filters import done_at
from storage_controller.swift.sweeper import ViewSweeper
from storage_controller.swift.views import SwiftAdmin, SwiftViews
from storage_controller.traffic.traffic import Traffic

_log = logging.getLogger(__name__)
_LOST_S = 0.6  # a proxy reports several times a second


class Loop(Protocol):
    """A thread of the controller."""

    def begin(self) -> None:
        """Start it."""

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Contents of the files in the settings. views: None without a Swift; keys: None without credentials of executions;
    metrics_token: empty without a separate token for `/metrics`.
    """

    token: str
    metrics_token: str
    endpoints: Endpoints
    views: SwiftViews | None
    keys: ExecutionKeys | None

    @classmethod
    def read(cls, settings: ControllerSettings) -> Secrets:
        """Read the files. Raises OSError and ValueError."""
        secret = settings.executions_secret_file
        return cls(
            _text(settings.token_file),
            _text(settings.metrics_token_file),
            _endpoints(settings),
            _views(settings),
            None if secret is None else ExecutionKeys.read(secret, settings.account_prefix),
        )


def build_controller(
    settings: ControllerSettings, secrets: Secrets, ledger: Ledger, lead: Lead
) -> tuple[Services, Sequence[Loop]]:
    """Return the services for the routes, and the loops in the order of their start."""

    def leads() -> bool:
        return lead.epoch is not None

    supervisor, views = Supervisor(), secrets.views
    bounds = CpuBounds(settings.filter_cores_of, settings.filter_cores)
    traffic = Traffic(lambda account: account.removeprefix(settings.account_prefix))
    interval_s, prometheus_url = settings.metrics_interval_s, settings.prometheus_url
    metrics = OwnMetrics(MetricLedger(ledger), supervisor, traffic, prometheus_url, interval_s, leads)
    regulation = Regulation(
        ledger,
        held_places(settings),
        secrets.endpoints,
        settings.account_prefix,
        rate_settings(settings),
        lambda: lead.epoch,
        secrets.keys is not None,
        supervisor,
        _pace(settings),
        bounds,
        traffic,
        metrics.values_for,
    )
    has_account = views.has_account if views else lambda _: True
    promisable = replace(promisable_by(settings, has_account), unkept=ControllerLedger(ledger).caveats)
    watch = _watch(settings, supervisor, ledger, leads)
    promisable = replace(promisable, available=partial(_available, promisable.capacity, settings, regulation, watch))
    regulation.available = lambda: promisable.now()[0]
    swift = None if views is None else _swift(settings, views, ledger, regulation, promisable)
    services = Services(
        ledger,
        promisable,
        regulation,
        KeptViews(ledger, views.make if views else _no_views, views.remove if views else lambda _: None),
        swift,
        _nodes(settings, watch),
        supervisor,
        metrics.readings,
        bounds,
        PolicyMaker(settings.swift_policy_command, settings.swift_policy_s),
        prometheus_url,
        settings.rewrite_bytes_per_s,
        settings.replication_bytes_per_s,
        secrets.keys,
    )
    sweeper = ViewSweeper(lambda: services.views.sweep() if leads() else None)
    loops: list[Loop] = [lead, regulation, metrics, sweeper, *_rewriters(settings, services, leads)]
    return services, [*loops, watch] if settings.swift_nodes else loops


def _available(
    usual: BandwidthSlo, settings: ControllerSettings, regulation: Regulation, watch: NodeWatch
) -> tuple[BandwidthSlo, Sequence[str]]:
    health = [(one.name, one.kind, one.state is NodeState.AWAY) for one in watch.nodes()]
    found = availability(usual, held_places(settings), regulation.unheard_s(), health)
    return found.rates, found.why


def _swift(
    settings: ControllerSettings, views: SwiftViews, ledger: Ledger, regulation: Regulation, promisable: Promisable
) -> Swift:
    most = promisable.capacity.read_bytes_per_s or 0

    def sample(view: View) -> ViewSample:
        """Measure a view; the result includes the bandwidth that its tenant would get now, at most what the store can
        move.
        """
        readable = regulation.readable(view.tenant)
        return views.sample(view, most if readable is None else min(readable, most))

    places = SwiftPlaces(views.line, ledger.view, settings.swift_endpoints_url, settings.swift_fragmented_policies)
    return Swift(SwiftObjects(views.line), done_at(views.line), sample, places)


def _rewriters(settings: ControllerSettings, services: Services, leads: Callable[[], bool]) -> Iterable[Rewriter]:
    if services.swift is not None:
        book, objects = services.rules.book, services.swift.objects
        yield Rewriter(services.rewrites, book, objects, leads, patience_s=settings.rewrite_patience_s)


def rate_settings(settings: ControllerSettings) -> RateSettings:
    """Return how limits are computed: if proxies may be lost, the algorithm does not wait for a silent one."""
    found = RateSettings(hold_s=settings.hold_s, decay_s=settings.decay_s)
    return replace(found, lost_s=_LOST_S) if settings.proxies_spare else found


def held_places(settings: ControllerSettings) -> EnforcingServers:
    """Return the servers that enforce bandwidth, and further ones that report."""
    nodes, further = settings.bandwidth_nodes, settings.object_servers
    return EnforcingServers(settings.proxies, nodes, settings.bandwidth_replicas, further)


def promisable_by(settings: ControllerSettings, has_account: Callable[[str], bool]) -> Promisable:
    """Return how much may be guaranteed; log the part of the settings that the proxies cannot deliver."""
    configured = BandwidthSlo(settings.read_bytes_per_s, settings.write_bytes_per_s)
    places, capacity = held_places(settings), limit_to_proxies(configured, settings.proxies, settings.proxies_spare)
    if disks := sum(places.nodes.values()):
        capacity = at_most(capacity, disks, disks // places.copies)
    promisable = Promisable(capacity, has_account, settings.proxies, places=places)
    if capacity != configured:
        _log.warning("the store moves less than the guarantees of the settings; guarantees are limited to %s", capacity)
    for caveat in promisable.caveats(promisable.capacity):
        _log.warning("some guarantees cannot always be kept: %s", caveat)
    return promisable


def _endpoints(settings: ControllerSettings) -> Endpoints:
    public, secret, *proxies = settings.key_file.read_bytes().split()
    if not proxies:
        raise ValueError(f"{settings.key_file} contains no public key of a proxy, so no proxy could connect")
    return Endpoints(settings.limits_endpoint, settings.usage_endpoint, public, secret, frozenset(proxies))


def _views(settings: ControllerSettings) -> SwiftViews | None:
    if settings.swift_auth_url is None:
        return None
    if settings.swift_key_file is None:
        raise ValueError("swift_auth_url also needs swift_key_file")
    key = settings.swift_key_file.read_text().strip()
    return SwiftViews(SwiftAdmin(settings.swift_auth_url, settings.swift_user, key, settings.account_prefix))


def _pace(settings: ControllerSettings) -> Pace | None:
    disks, least = settings.replication_disks, settings.replication_bytes_per_s
    if disks is None or least is None:
        return least
    # Object servers count each replica.
    replicas = 1 if settings.bandwidth_nodes else disks.replicas
    return Disks(disks.servers, disks.bytes_per_s, replicas, least)


def _watch(
    settings: ControllerSettings, supervisor: Supervisor, ledger: Ledger, leads: Callable[[], bool]
) -> NodeWatch:
    bounds = Bounds(
        settings.nodes_slow_s,
        settings.nodes_full_percent / 100,
        settings.nodes_replication_s,
        settings.nodes_pending_max,
    )
    mode = partial(ControllerLedger(ledger).mode, HEALTH_CONTROLLER)
    interval_s, timeout_s = settings.nodes_interval_s, settings.nodes_timeout_s
    return NodeWatch(settings.swift_nodes, supervisor, mode, bounds, interval_s, timeout_s, leads)


def _nodes(settings: ControllerSettings, watch: NodeWatch) -> StoreNodes:
    restarts = NodeRestarts(settings.swift_nodes, settings.nodes_restart_s, after=watch.look_soon)
    return StoreNodes(watch.nodes, restarts, watch.mode_set)


def _no_views(view: View) -> NoReturn:
    raise RequestRefusedError(
        409, f"cannot create view {view.id}: the controller is not connected to Swift; set swift_auth_url"
    )


def _text(file: Path | None) -> str:
    return file.read_text().strip() if file else ""
