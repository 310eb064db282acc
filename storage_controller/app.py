"""The controller's web application: both dialects and the extensions, behind one token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from storage_controller.answers import answer_errors
from storage_controller.controller_ledger import ControllerLedger
from storage_controller.controller_metrics import ControllerCollector
from storage_controller.controller_routes import Controllers, controller_routes
from storage_controller.dialects import SpokenDialect
from storage_controller.executions import ExecutionKeys, execution_routes, transfer_routes
from storage_controller.extensions import extension_routes, locality_routes, storage_policy_routes
from storage_controller.filter_core_routes import filter_cores_routes
from storage_controller.filter_words import filter_word_routes
from storage_controller.filters import BODY_BYTES_MAX, filter_routes, project_routes
from storage_controller.history import history_routes
from storage_controller.lead import STANDBY
from storage_controller.ledger import Ledger
from storage_controller.metric_ledger import MetricLedger
from storage_controller.metric_module_routes import metric_module_routes
from storage_controller.metric_routes import AddedMetrics, metric_routes, metric_word_routes
from storage_controller.module_ledger import ModuleLedger
from storage_controller.module_routes import module_routes
from storage_controller.node_routes import NodeCollector, node_routes
from storage_controller.rewrite_ledger import RewriteLedger
from storage_controller.rewrite_routes import rewrite_routes
from storage_controller.rule_ledger import RuleLedger
from storage_controller.rule_routes import own_rule_routes, rule_routes
from storage_controller.rule_words import word_routes
from storage_controller.services import Services
from storage_controller.slos import appendix_routes, later_routes
from storage_controller.standing_slos import standing_slo_routes
from storage_controller.traffic_routes import ContentsCollector, traffic_routes

_OPEN, _METRICS = "/health", "/metrics"


def make_app(
    ledger: Ledger,
    services: Services,
    token: str,
    leads: Callable[[], bool] = lambda: True,
    keys: ExecutionKeys | None = None,
    dialect: SpokenDialect = SpokenDialect.BOTH,
    metrics_token: str = "",
) -> FastAPI:
    """Return all routes; only `/health` needs no token. Without a token, no body is read. Without keys, executions have
    no credentials. metrics_token: opens `/metrics` and nothing else; empty: none does.

    A controller that stands by answers 503 to everything but `/health`.
    """
    app = FastAPI(
        title="Zoe's storage controller", version="1", docs_url=None, redoc_url=None, max_body_size=BODY_BYTES_MAX
    )
    answer_errors(app)

    @app.middleware("http")
    async def door(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        # Prometheus sends the usual header, and no other one in all of its versions.
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        given = request.headers.get("X-Auth-Token") or bearer
        path: str = request.scope["path"]  # what routes go by; `request.url` is made of what the client says
        reads_metrics = path == _METRICS and metrics_token and _same(given, metrics_token)
        if path != _OPEN and not reads_metrics and not _same(given, token):
            return JSONResponse("a valid X-Auth-Token is required", 401)  # a bare string, as Crystal answers
        if path != _OPEN and not leads():
            return JSONResponse({"error": STANDBY}, 503)
        if dialect.hides(path):
            return JSONResponse({"error": f"this controller answers the {dialect.value} dialect of Crystal only"}, 404)
        if "\0" in f"{path}{unquote(request.url.query)}":  # no text of the database has one
            return JSONResponse({"error": "a name has no NUL character"}, 400)
        return await answer(request)

    rules, modules = RuleLedger(ledger, hosted=services.reports.hosted), ModuleLedger(ledger)
    metrics = MetricLedger(ledger)
    added = AddedMetrics(metrics, rules, services.prometheus_url)
    nodes = len(services.nodes.all())
    reports, supervisor, active = services.reports, services.supervisor, services.reports.active
    kept, pace = ControllerLedger(ledger), services.replication_bytes_per_s
    controllers = Controllers(kept, rules, metrics, supervisor, active, nodes, pace, services.nodes.mode_set)
    of_controllers = ControllerCollector(supervisor, active, services.readings)
    collectors = of_controllers, NodeCollector(services.nodes), ContentsCollector(reports.contents)
    # Included routers would be analysed again for each application, at its first request: 0.1 s of CPU.
    for routes in (
        appendix_routes(ledger, services.promisable),
        rule_routes(rules, services.promisable),
        own_rule_routes(rules, services.promisable, services.done, reports.traffic, reports.metrics),
        word_routes(rules),
        filter_word_routes(rules),
        metric_word_routes(added),
        metric_module_routes(added),
        metric_routes(added, services.readings, services.supervisor),
        controller_routes(controllers),
        later_routes(ledger, services.promisable),
        filter_routes(ledger, rules, services.promisable, modules),
        module_routes(modules, rules),
        project_routes(ledger),
        locality_routes(services),
        storage_policy_routes(services),
        extension_routes(ledger, services),
        traffic_routes(reports.traffic, reports.of_signers, reports.of_nodes, *collectors),
        node_routes(services.nodes),
        standing_slo_routes(ledger, services.promisable),
        filter_cores_routes(ledger, services.cpu_bounds),
        rewrite_routes(RewriteLedger(ledger), services),
    ):
        app.router.routes.extend(routes.routes)
    if keys is not None:
        for routes in (execution_routes(ledger, services, keys), transfer_routes(ledger), history_routes(ledger)):
            app.router.routes.extend(routes.routes)

    @app.get(_OPEN)
    def health() -> dict[str, str]:
        return {"status": "up", "role": "leader" if leads() else "standby"}

    return app


def _same(given: str, wanted: str) -> bool:
    """Compare in a time that does not depend on the contents."""
    return hmac.compare_digest(given.encode(), wanted.encode())
