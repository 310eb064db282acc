"""The API: stateless, in any number of processes. This module builds the application and runs it."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from zoe_api.apps import ports
from zoe_api.apps.middleware import AppsMiddleware
from zoe_api.arrays import routes as arrays
from zoe_api.billing import limits
from zoe_api.billing import statements as billing
from zoe_api.billing import usage as use
from zoe_api.cluster import health, node_loss
from zoe_api.cluster import routes as cluster
from zoe_api.executions import control, events, executions, logs, results, shares, stored_applications
from zoe_api.executions import diff_routes as diffs
from zoe_api.executions import submitting as submissions
from zoe_api.executions.submissions import descriptions
from zoe_api.files import routes as files
from zoe_api.http import openapi
from zoe_api.http.hosts import HostDoor
from zoe_api.http.origins import OriginMiddleware
from zoe_api.http.problems import problems
from zoe_api.http.request_context import PREFIX, Changes, RequestContext
from zoe_api.http.serving.body import BodyMiddleware
from zoe_api.http.serving.connections import BACKLOG, AcceptTrouble, Bounds, Connections
from zoe_api.http.serving.docs_site import DocsSite
from zoe_api.http.serving.forwarded import ForwardedDoor
from zoe_api.http.serving.guarded import guarded_protocol
from zoe_api.http.serving.heads import HeadDoor
from zoe_api.http.serving.listening import CANNOT_LISTEN, listening_trouble
from zoe_api.http.serving.server import IDLE_S, Server
from zoe_api.http.serving.web_ui import WebUi
from zoe_api.people import accounts as people
from zoe_api.people import administration, credentials, machines, notifications, secrets
from zoe_api.people.sign_in import oidc_routes as oidc
from zoe_api.people.sign_in import session_routes as session
from zoe_api.people.sign_in.directory_watch import DirectoryWatch, directories
from zoe_api.people.sign_in.ldap_clients.chosen import ClientMissing, log_clients
from zoe_api.people.sign_in.redirect_uris import log_redirect_uris
from zoe_api.schedules import routes as schedules
from zoe_api.services.dependencies import Services
from zoe_api.services.job_door import JobDoor
from zoe_api.services.journal_news import JournalNews
from zoe_api.services.leader_endpoint import LeaderEndpoint
from zoe_api.services.master_status import MasterStatus
from zoe_api.services.output_reads import OutputReads
from zoe_api.services.stream_places import StreamPlaces
from zoe_api.storage import capacity as storage
from zoe_api.storage import controllers as storage_controllers
from zoe_api.storage import cores as storage_cores
from zoe_api.storage import filters as storage_filters
from zoe_api.storage import history as storage_history
from zoe_api.storage import metrics as storage_metrics
from zoe_api.storage import nodes as storage_nodes
from zoe_api.storage import rewrites as storage_rewrites
from zoe_api.storage import rules as storage_rules
from zoe_api.storage import slos as storage_slos
from zoe_api.storage import store_queries, volumes
from zoe_api.storage.client import StorageController
from zoe_api.terminals import routes as terminals
from zoe_api.workflows import routes as workflows
from zoe_lib.http.strict_http import StrictHttp
from zoe_lib.logs.few_lines import LineLimiter
from zoe_lib.logs.telemetry import configure_logging
from zoe_lib.messaging.client import MasterClient
from zoe_lib.messaging.keys import CannotMakeKeys, ensure_keys
from zoe_lib.plugins import installed_plugins
from zoe_lib.settings.config import Settings
from zoe_lib.settings.file_settings import read_settings
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.revision import TablesTooOld, check_tables
from zoe_lib.store.postgres.store import PostgresStore

_TROUBLES_A_SECOND_MAX = 5  # warnings and errors in the log
# Made once for all applications of a process: FastAPI's analysis of their parameters takes longer than a request.
ROUTES = tuple(
    route
    for module in (
        submissions,
        arrays,
        control,
        executions,
        logs,
        ports,
        events,
        cluster,
        node_loss,
        diffs,
        descriptions,
        people,
        session,
        machines,
        oidc,
        administration,
        limits,
        shares,
        credentials,
        secrets,
        schedules,
        stored_applications,
        notifications,
        storage,
        storage_controllers,
        storage_cores,
        storage_filters,
        storage_history,
        storage_metrics,
        storage_nodes,
        storage_rewrites,
        storage_rules,
        storage_slos,
        volumes,
        files,
        results,
        store_queries,
        terminals,
        use,
        workflows,
        billing,
    )
    # Not included as routers, which FastAPI would search twice for each request.
    for route in module.router.routes
)
"""All routes below the prefix of the API."""


def bare_app() -> FastAPI:
    """Return an application with routes and document, but without services."""
    app = FastAPI(
        title="Zoe",
        version=version("zoe-analytics"),
        description="Analytics as a service: a scheduler that knows storage.",
        docs_url=None,  # that page and its files belong to the web UI; the framework's come from a CDN
        redoc_url=None,
        redirect_slashes=False,
        openapi_url=f"{PREFIX}/openapi.json",
        generate_unique_id_function=openapi.operation_id,
        routes=list(ROUTES),
    )
    health.install(app)
    openapi.install(app)
    return app


def create_app(settings: Settings, store: PostgresStore, master: MasterClient) -> FastAPI:
    """Return the application for a store and a client of the master; the caller closes both."""
    news, output = JournalNews(store, settings.api_sse_poll_s), OutputReads(master.ask)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        news.open()
        watch.open()
        asyncio.get_running_loop().set_exception_handler(AcceptTrouble())
        try:
            yield
        finally:
            news.close()
            watch.close()
            output.close()
            services.master_status.close()
            services.password_checks.close()
            services.long_questions.close()
            await services.files.close()
            await services.objects.close()

    app = bare_app()
    app.router.lifespan_context = lifespan
    streams = StreamPlaces(
        settings.api_streams_of_user_max, settings.api_streams_of_token_max, settings.api_app_requests_of_user_max
    )
    status = MasterStatus(lambda: master.ask("status"))
    services = app.state.services = Services(settings, store, master, news, output, streams, status)
    app.state.storage_controller = StorageController(settings)
    watch = DirectoryWatch(settings, store.accounts, directories(settings))
    problems.install(app)
    app.router.default = DocsSite(otherwise=WebUi(otherwise=app.router.default))
    app.add_middleware(BodyMiddleware, bytes_max=settings.api_body_bytes_max, turns=services.turns)
    app.add_middleware(OriginMiddleware, prefixes=(PREFIX,), public_url=settings.public_url)
    app.add_middleware(JobDoor, tokens=services.job_tokens, rates=services.job_rates)
    app.add_middleware(HostDoor, settings=settings)
    app.add_middleware(RequestContext, audit=_Audit(store.accounts))
    app.add_middleware(
        AppsMiddleware,
        domain=settings.apps_domain,
        store=store,
        master=master,
        lifetime_s=settings.session_lifetime_s,
        streams=streams,
        public_url=settings.public_url,
    )
    app.add_middleware(HeadDoor)
    app.add_middleware(ForwardedDoor, trusted=settings.trusted_proxies)
    return app


class _Audit:
    """Write audit entries. An entry that cannot be written stays open, as after a crash; the response stands."""

    def __init__(self, accounts: AccountStore) -> None:
        self._accounts = accounts

    def end(self, entry_id: int, status: int, changes: Changes) -> None:
        with suppress(StoreUnavailable):
            self._accounts.end_audit(entry_id, status, changes)

    def add(self, entry: AuditEntry) -> None:
        with suppress(StoreUnavailable):
            self._accounts.add_audit(entry)


def main() -> int:
    """Run one API process until SIGTERM or SIGINT."""
    argparse.ArgumentParser(prog="zoe-api", description="Serve the API and the web UI.").parse_args()
    settings = read_settings(Settings, "zoe-api")
    configure_logging(settings.log_format, settings.log_level, "api", _TROUBLES_A_SECOND_MAX, LineLimiter())
    try:
        ensure_keys(Path(settings.keys_dir))
    except CannotMakeKeys as refusal:
        print(f"zoe-api: {refusal}", file=sys.stderr)
        return 2
    if trouble := listening_trouble(settings.api_host, settings.api_port):
        print(f"zoe-api: {trouble}", file=sys.stderr)
        return CANNOT_LISTEN
    log_redirect_uris(settings)
    try:
        log_clients(settings)
    except ClientMissing as refusal:
        print(f"zoe-api: {refusal}", file=sys.stderr)
        return 2
    installed_plugins()  # read now: a later installation takes effect after a restart, as for the master
    store = PostgresStore(settings.database_url.get_secret_value())
    try:
        with suppress(StoreUnavailable):  # it may start before the database
            check_tables(store.revision())
    except TablesTooOld as refusal:
        print(f"zoe-api: {refusal}", file=sys.stderr)
        store.close()
        return 2
    endpoint = LeaderEndpoint(store.leader, settings.master_endpoint)
    master = MasterClient(endpoint, settings.keys_dir, settings.master_timeout_s, settings.master_attempts_max)
    for number in (signal.SIGTERM, signal.SIGINT):
        # The server raises the signal again after its graceful stop, when it has already been obeyed.
        signal.signal(number, lambda *_: None)
    try:
        app = create_app(settings, store, master)
        app.state.storage_controller.check()
        Server(server_config(app, settings), app.state.services.stopping).run()
    finally:
        master.close()
        store.close()
    return 0


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Return uvicorn's configuration; explicit, so that other installed packages make no difference."""
    return uvicorn.Config(
        app,
        host=settings.api_host,
        port=settings.api_port,
        http=guarded_protocol(StrictHttp, Connections(Bounds.from_settings(settings))),
        loop="uvloop",
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        proxy_headers=False,  # ForwardedDoor reads these headers
        timeout_graceful_shutdown=2,
        timeout_keep_alive=IDLE_S,
    )


if __name__ == "__main__":
    sys.exit(main())
