"""`zoe-storage`: the storage controller. Zoe's migrations (`zoe-setup`) create its tables."""

from __future__ import annotations

import argparse
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, Protocol

import sqlalchemy as sa
import uvicorn

from storage_bridge.bandwidth.regulator import RateSettings
from storage_bridge.model import BandwidthSlo, View, ViewSample
from storage_controller.answers import Promisable, Refused, at_most, bounded
from storage_controller.app import make_app
from storage_controller.controller_ledger import HEALTH_CONTROLLER, ControllerLedger
from storage_controller.executions import ExecutionKeys
from storage_controller.extensions import Works
from storage_controller.filter_cores import CpuBounds
from storage_controller.held_places import HeldPlaces
from storage_controller.kept_views import KeptViews
from storage_controller.lead import Lead
from storage_controller.ledger import Ledger
from storage_controller.metric_ledger import MetricLedger
from storage_controller.node_health import Bounds
from storage_controller.node_restarts import NodeRestarts
from storage_controller.node_routes import StoreNodes
from storage_controller.node_watch import NodeWatch
from storage_controller.own_metrics import OwnMetrics
from storage_controller.regulation import Endpoints, Regulation
from storage_controller.replication import Pace
from storage_controller.replication_spare import Disks
from storage_controller.rewrite_ledger import RewriteLedger
from storage_controller.rewriter import Rewriter
from storage_controller.rule_ledger import RuleLedger
from storage_controller.settings import ControllerSettings
from storage_controller.storage_policies import PolicyMaker
from storage_controller.supervision import Supervisor
from storage_controller.sweeper import ViewSweeper
from storage_controller.swift_done import done_at
from storage_controller.swift_objects import SwiftObjects
from storage_controller.swift_places import SwiftPlaces
from storage_controller.swift_views import SwiftAdmin, SwiftViews
from zoe_lib.file_settings import read_settings
from zoe_lib.store.revision import TablesTooOld, check_tables, read_revision
from zoe_lib.store.sql.database import with_driver
from zoe_lib.strict_http import StrictHttp
from zoe_lib.telemetry import Few

_log = logging.getLogger(__name__)
_TROUBLES_A_SECOND_MAX = 5  # warnings and errors in the log
_LOST_S = 0.6  # a proxy reports several times a second


class _Loop(Protocol):
    def begin(self) -> None: ...

    def close(self) -> None: ...


def main() -> int:
    """Serve until a signal; return 2 if the settings are wrong or the tables too old."""
    argparse.ArgumentParser(
        prog="zoe-storage",
        description="Serve the storage controller. Settings: ZOE_SDS_ variables, or the file in ZOE_SDS_CONFIG.",
    ).parse_args()
    _log_to_stderr()
    settings = read_settings(ControllerSettings, "zoe-storage")
    try:
        token, metrics_token = (
            path.read_text().strip() if path else "" for path in (settings.token_file, settings.metrics_token_file)
        )
        endpoints = _endpoints(settings)
        views = _views(settings)
        secret = settings.executions_secret_file
        keys = None if secret is None else ExecutionKeys.read(secret, settings.account_prefix)
    except (OSError, ValueError) as error:
        print(f"zoe-storage: {error}", file=sys.stderr)
        return 2
    engine = sa.create_engine(with_driver(settings.database_url.get_secret_value()), pool_pre_ping=True)
    sa.event.listen(engine, "connect", partial(_bound_transactions, settings.lead_lease_s))
    try:
        _check_tables(engine)
    except TablesTooOld as refusal:
        print(f"zoe-storage: {refusal}", file=sys.stderr)
        engine.dispose()
        return 2
    lead = Lead(engine, settings.name or f"{socket.gethostname()}:{settings.port}", settings.lead_lease_s)
    ledger = Ledger(engine, check=lead.check)
    supervisor = Supervisor()
    bounds = CpuBounds(settings.filter_cores_of, settings.filter_cores)
    regulation = Regulation(
        ledger,
        held_places(settings),
        endpoints,
        settings.account_prefix,
        rate_settings(settings),
        lambda: lead.epoch,
        keys is not None,
        supervisor,
        _pace(settings),
        bounds,
    )
    metrics = OwnMetrics(
        MetricLedger(ledger),
        supervisor,
        regulation.traffic,
        settings.prometheus_url,
        settings.metrics_interval_s,
        lambda: lead.epoch is not None,
    )
    regulation.judge.added = metrics.values_for
    has_account = views.has_account if views else lambda _: True
    promisable = replace(promisable_by(settings, has_account), unkept=ControllerLedger(ledger).unkept)
    kept_views = KeptViews(ledger, views.make if views else _no_views, views.remove if views else lambda _: None)
    objects = SwiftObjects(views.line) if views else None
    watch = _watch(settings, supervisor, ledger, lambda: lead.epoch is not None)
    works = Works(
        promisable,
        regulation.achieved,
        regulation.missed,
        kept_views,
        _sampling(views, regulation, promisable.capacity.read_bytes_per_s or 0) if views else _no_views,
        _places(settings, views, ledger) if views else None,
        regulation.clients,
        regulation.achieved_by_execution,
        regulation.counts_transfers,
        hosted=regulation.hosted,
        traffic=regulation.traffic,
        of_signers=regulation.of_signers,
        of_nodes=regulation.of_nodes,
        caches=regulation.caches,
        silent_s=regulation.silent_s,
        silent_nodes_s=regulation.silent_nodes_s,
        metrics=regulation.metrics,
        supervisor=supervisor,
        active=regulation.judge.active,
        readings=metrics.readings,
        prometheus_url=settings.prometheus_url,
        hosted_by=regulation.hosted_by,
        objects=objects,
        rewrite_bytes_per_s=settings.rewrite_bytes_per_s,
        replication_bytes_per_s=settings.replication_bytes_per_s,
        cpu_bounds=bounds,
        contents=regulation.contents,
        policy_maker=PolicyMaker(settings.swift_policy_command, settings.swift_policy_s),
        nodes=StoreNodes(
            watch.nodes,
            NodeRestarts(settings.swift_nodes, settings.nodes_restart_s, after=watch.look_soon),
            watch.mode_set,
        ),
        **({"done": done_at(views.line)} if views else {}),
    )
    rewriter = None
    if objects is not None:
        book, patience_s = RuleLedger(ledger, hosted=regulation.hosted).book, settings.rewrite_patience_s
        rewriter = Rewriter(RewriteLedger(ledger), book, objects, lambda: lead.epoch is not None, patience_s=patience_s)
    sweeper = ViewSweeper(lambda: kept_views.sweep() if lead.epoch is not None else None)
    loops: list[_Loop] = [lead, regulation, metrics, sweeper, *([rewriter] if rewriter is not None else [])]
    loops += [watch] if settings.swift_nodes else []
    for one in loops:
        one.begin()
    try:
        app = make_app(ledger, works, token, lambda: lead.epoch is not None, keys, settings.dialect, metrics_token)
        where: dict[str, Any] = {"host": settings.host, "port": settings.port}
        uvicorn.run(app, **where, http=StrictHttp, loop="asyncio", log_level="warning", log_config=None)
    finally:
        for one in reversed(loops):
            one.close()
        engine.dispose()
    return 0


def _log_to_stderr() -> None:
    """Log, also what libraries have to say; a bounded number of warnings a second, since strangers can cause them."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(Few(_TROUBLES_A_SECOND_MAX).filter)


def _check_tables(engine: sa.Engine) -> None:
    """Raise TablesTooOld if this version cannot use the database; a database that is away is waited for."""
    with suppress(sa.exc.OperationalError), engine.connect() as connection:
        check_tables(read_revision(connection))


def _bound_transactions(seconds: float, connection: Any, _: object) -> None:
    """Let the database end a transaction in which a paused controller holds the lead."""
    with connection.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = %s", (round(seconds * 1000),))
    connection.commit()


def rate_settings(settings: ControllerSettings) -> RateSettings:
    """Return how limits are computed: where a proxy may be lost, one that does not report is no longer waited for."""
    found = RateSettings(hold_s=settings.hold_s, decay_s=settings.decay_s)
    return replace(found, lost_s=_LOST_S) if settings.proxies_spare else found


def held_places(settings: ControllerSettings) -> HeldPlaces:
    """Return where bandwidth is held, and who reports."""
    nodes, further = settings.bandwidth_nodes, settings.object_servers
    return HeldPlaces(settings.proxies, nodes, settings.bandwidth_replicas, further)


def promisable_by(settings: ControllerSettings, has_account: Callable[[str], bool]) -> Promisable:
    """Return how much may be promised; log which part of the settings the proxies cannot keep."""
    configured = BandwidthSlo(settings.read_bytes_per_s, settings.write_bytes_per_s)
    places, capacity = held_places(settings), bounded(configured, settings.proxies, settings.proxies_spare)
    if disks := sum(places.nodes.values()):
        capacity = at_most(capacity, disks, disks // places.copies)
    promisable = Promisable(capacity, has_account, settings.proxies, places=places)
    if capacity != configured:
        _log.warning("the store moves less than the settings promise; promises are limited to %s", capacity)
    for caveat in promisable.caveats(promisable.capacity):
        _log.warning("what may be promised cannot always be kept: %s", caveat)
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
    # What is held at the object servers is counted there, for each replica.
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


def _places(settings: ControllerSettings, views: SwiftViews, ledger: Ledger) -> SwiftPlaces:
    return SwiftPlaces(views.line, ledger.view, settings.swift_endpoints_url, settings.swift_fragmented_policies)


def _sampling(views: SwiftViews, regulation: Regulation, most: int) -> Callable[[View], ViewSample]:
    """The result includes what the view's tenant would get now, at most what the store can move."""

    def sample(view: View) -> ViewSample:
        readable = regulation.readable(view.tenant)
        return views.sample(view, most if readable is None else min(readable, most))

    return sample


def _no_views(view: View) -> NoReturn:
    raise Refused(409, f"cannot create view {view.id}: the controller is not connected to Swift; set swift_auth_url")


if __name__ == "__main__":
    sys.exit(main())
