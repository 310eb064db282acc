"""The controller's web application: both dialects and the extensions, protected by one token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from storage_controller.answers import answer_errors
from storage_controller.crystal import (
    access,
    dependencies,
    filter_words,
    filters,
    groups,
    projects,
    registered,
    store,
    words,
)
from storage_controller.crystal import controllers as crystal_controllers
from storage_controller.crystal import nodes as crystal_nodes
from storage_controller.crystal import rules as crystal_rules
from storage_controller.crystal import slos as crystal_slos
from storage_controller.crystal.metrics import modules as crystal_metrics
from storage_controller.crystal.metrics import registry, registry_modules
from storage_controller.database.lead import STANDBY
from storage_controller.dialects import SpokenDialect, without_slash
from storage_controller.routes import (
    capacity,
    controllers,
    executions,
    filter_cores,
    history,
    metrics,
    modules,
    nodes,
    rewrites,
    rules,
    slos,
    traffic,
    transfers,
    views,
)
from storage_controller.routes.services import Services

_OPEN, _METRICS = "/health", "/metrics"
# `dependencies` comes before `filters`, whose paths begin with a filter or a project, and `groups` before `projects`.
_CRYSTAL = (
    *(crystal_slos, crystal_rules, words, filter_words, registry, registry_modules, dependencies, filters, store),
    *(groups, projects, crystal_controllers, crystal_metrics, crystal_nodes, registered, access),
)
_OWN = (*(capacity, controllers, filter_cores, metrics, modules, nodes, rewrites, rules, slos, traffic, views),)
_OF_EXECUTIONS = executions, transfers, history
Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class RequestCheck:
    """Check of requests before they are routed. token: allows all requests; without it, no body is read.

    metrics_token: allows `/metrics` only; empty: no such token. leads: a controller on standby answers 503. Only
    `/health` needs no token.
    """

    token: str
    leads: Callable[[], bool] = lambda: True
    dialect: SpokenDialect = SpokenDialect.BOTH
    metrics_token: str = ""

    async def __call__(self, request: Request, answer: Answer) -> Response:
        """Answer requests that fail the check; pass on all others."""
        # Prometheus sends the usual header, and no other one in all of its versions.
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        given = request.headers.get("X-Auth-Token") or bearer
        path: str = request.scope["path"]  # the path for routing; `request.url` depends on the client's headers
        reads_metrics = path == _METRICS and self.metrics_token and _same(given, self.metrics_token)
        if path != _OPEN and not reads_metrics and not _same(given, self.token):
            return JSONResponse("a valid X-Auth-Token is required", 401)  # a bare string, as Crystal answers
        if path != _OPEN and not self.leads():
            return JSONResponse({"error": STANDBY}, 503)
        if self.dialect.hides(path):
            name = self.dialect.value
            return JSONResponse({"error": f"this controller answers the {name} dialect of Crystal only"}, 404)
        if "\0" in f"{path}{unquote(request.url.query)}":  # texts of the database cannot contain it
            return JSONResponse({"error": "a name must not contain a NUL character"}, 400)
        request.scope["path"] = without_slash(path)
        return await answer(request)


def make_app(services: Services, door: RequestCheck) -> FastAPI:
    """Return the application with all routes. Without keys, executions have no credentials and no routes."""
    app = FastAPI(
        title="Zoe's storage controller",
        version="1",
        docs_url=None,
        redoc_url=None,
        max_body_size=filters.BODY_BYTES_MAX,
    )
    answer_errors(app)
    app.middleware("http")(door)
    app.state.services, app.state.door = services, door
    app.state.registry = traffic.registry_of(services)
    # Included routers would be analysed again for each application, at its first request: 0.1 s of CPU.
    for entry in (*_CRYSTAL, *_OWN, *(_OF_EXECUTIONS if services.keys is not None else ())):
        app.router.routes.extend(entry.router.routes)
    app.get(_OPEN)(health)
    return app


def health(request: Request) -> dict[str, str]:
    """Return whether this controller leads."""
    return {"status": "up", "role": "leader" if request.app.state.door.leads() else "standby"}


def _same(given: str, wanted: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode(), wanted.encode())
