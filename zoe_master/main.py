"""Composition root of the master: settings -> store, back-end -> Master; leader lock, signals, the loop."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Protocol

import structlog

from storage_bridge.connect import connect_lazily
from storage_bridge.http import ControllerSettings
from storage_bridge.model import S3
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.storage import Credential
from zoe_lib.logs.telemetry import configure_logging
from zoe_lib.messaging.keys import CannotMakeKeys, ensure_keys
from zoe_lib.sealing import CannotOpen, Seal, derived_key
from zoe_lib.settings.config import Settings
from zoe_lib.settings.file_settings import read_settings
from zoe_lib.store.errors import NotLeader, StoreUnavailable
from zoe_lib.store.people import NotificationTarget
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.revision import TablesTooOld, check_tables
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import StoreLimits, UsageSample
from zoe_lib.submission.place import LeaderPlace
from zoe_master.backends.base import Backend, BackendError, BackendUnavailable, TotalUsageBackend
from zoe_master.backends.factory import BackendRefused, make_backend
from zoe_master.background import metrics
from zoe_master.background.activity import STRETCH_S, ServiceActivity
from zoe_master.background.attempt_runner import AttemptRunner, ProgramRefused, check_program
from zoe_master.background.forecast_thread import ForecastThread
from zoe_master.background.leader_pauses import LeaderPauses
from zoe_master.background.lease import LeaderLease, LeaderProgress, LeaderWatch
from zoe_master.background.list_reading import read_list
from zoe_master.background.list_thread import EntryListThread
from zoe_master.background.metrics import observe_storage
from zoe_master.background.progress_amounts import ProgressAmounts
from zoe_master.background.progress_thread import ProgressThread
from zoe_master.background.promise_thread import PromiseThread
from zoe_master.background.readings import ScalingAmounts
from zoe_master.background.retention import ExecutionRetention, removal_interval_s
from zoe_master.background.run_times_thread import RunTimesThread
from zoe_master.background.scaling_thread import ScalingThread
from zoe_master.background.schedule_thread import ScheduleThread
from zoe_master.loop.attempt_programs import AttemptProgramKind
from zoe_master.loop.master import Master
from zoe_master.loop.port_secrets import PURPOSE, PortSecrets
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.secret_values import ExecutionSecrets
from zoe_master.loop.system_users import SystemUsers
from zoe_master.loop.tick_recorder import TickRecorder
from zoe_master.notifications.mail import NotificationMail
from zoe_master.notifications.thread import NotificationThread
from zoe_master.notifications.turn import NotificationSenders
from zoe_master.notifications.webhook import NotificationWebhooks
from zoe_master.plugins import PluginRefused, Plugins, load_plugins
from zoe_master.rpc.handlers import RpcHandlers
from zoe_master.rpc.server import RpcServer
from zoe_master.state.crash_points import Hit, crash_point_of
from zoe_master.state.promise_prices import StoredPrices
from zoe_master.storage.query_reports import QueryReportSettings
from zoe_master.storage.reconciler import ThreadedReconciler
from zoe_master.storage.report import store_report
from zoe_master.storage.spark_config import Place, SparkConfig
from zoe_master.storage.tenant_tokens import TenantTokens
from zoe_master.waker import TickWaker

log = structlog.get_logger(__name__)

_STANDBY_POLL_S = 1.0
_STORE_RETRY_S = 0.5
_BACKEND_RETRY_S = 1.0
_SHORTEST_WAIT_S = 0.01
# Errors that an operator must fix before a start can succeed; the master prints them and ends.
_REFUSALS = (BackendRefused, PluginRefused, TablesTooOld)


class LeaderThread(Protocol):
    """A thread of a leading master."""

    def close(self) -> None:
        """End it."""


class Process:
    """The running master: waits for the lead, leads until it is deposed or stopped."""

    def __init__(
        self, settings: Settings, store: PostgresStore, waker: TickWaker, plugins: Plugins, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._plugins = plugins
        self._store = store
        self._waker = waker
        self._stopping = False
        self._usage_at_s = float("-inf")
        self._pauses = LeaderPauses()
        self._scaling: ScalingThread | None = None

    def stop(self) -> None:
        """Leave the loop soon; running services continue."""
        self._stopping = True
        self._waker.wake()

    def run(self) -> None:
        """Lead whenever the lock is available."""
        endpoint = advertised_endpoint(self._settings)
        watch = LeaderWatch(self._store, self._settings.master_lease_s, self._clock)
        while not self._stopping:
            try:
                check_tables(self._store.revision())
                self._plugins.check(self._store.policy())
                epoch = self._store.try_lead(self._settings.master_name, endpoint)
                if epoch is None:
                    watch.look()
                    self._waker.wait(_STANDBY_POLL_S)
                    continue
                self._lead(epoch)
            except NotLeader as error:
                log.warning("no longer the leader", why=str(error))
            except StoreUnavailable as error:
                log.warning("cannot reach the database", why=str(error))
                self._waker.wait(_STORE_RETRY_S)
            except BackendUnavailable as error:
                # Another master may reach it.
                log.warning("cannot reach the back-end; this master gives up the lead", why=str(error))
                self._store.stop_leading()
                self._waker.wait(_BACKEND_RETRY_S)
            except _REFUSALS:
                raise
            except Exception:
                self._recover()
            finally:
                metrics.stop_leading()
                observe_storage(None)
        self._store.stop_leading()

    def _recover(self) -> None:
        """Log the present exception, release the lead, and wait: no state in memory is used again."""
        metrics.FAILURES.inc()
        pause_s = self._pauses.next_s(self._clock.monotonic_s())
        log.exception("unexpected error; this master gives up the lead and starts anew", pause_s=pause_s)
        self._store.stop_leading()
        until_s = self._clock.monotonic_s() + pause_s
        while not self._stopping and (left_s := until_s - self._clock.monotonic_s()) > 0:
            self._waker.wait(left_s)

    def _lead(self, epoch: int) -> None:
        log.info("leading", epoch=epoch)
        settings, progress = self._settings, LeaderProgress(self._clock)
        hang_s = settings.master_hang_s + settings.master_timer_s
        lease = LeaderLease(self._store, epoch, settings.master_lease_s, hang_s, progress, self._clock)
        try:
            self._lead_with(epoch, progress)
        finally:
            lease.close()

    def _lead_with(self, epoch: int, progress: LeaderProgress) -> None:
        with ExitStack() as parts:
            backend = make_backend(self._settings, self._store.accounts, self._waker, self._plugins.backends)
            parts.callback(backend.close)
            hit = progress.noting_hook(crash_point_of(os.environ))
            storage = keeper_of(self._settings, self._store.accounts, self._waker, hit)
            if storage is not None:
                parts.callback(storage.close)
            numbers = SystemUsers(self._store.accounts, self._settings.user_ids_first, self._settings.user_ids_last)
            programs = programs_of(self._settings, self._waker)
            parts.callback(programs.close)
            master = self._master(epoch, backend, storage, numbers, hit, programs)
            prices = StoredPrices(
                lambda: [price_list.prices for price_list in self._store.billing.price_lists()], self._clock
            )
            decisions = PromiseDecisions(master.run_times, prices)
            report = storage.report if storage is not None else None
            name = self._settings.master_name
            answers = RpcHandlers(master, backend, self._waker, name, epoch, report, self._plugins, numbers, decisions)
            endpoint, keys_dir = self._settings.master_endpoint, self._settings.keys_dir
            answering = parts.enter_context(
                RpcServer(endpoint, keys_dir, answers.handlers(), answers.slow(), self._clock)
            )
            metrics.LEADER.set(1)
            for thread in self._threads(epoch, master, backend, numbers, decisions):
                parts.callback(thread.close)
            self._loop(master, backend, answering, storage, progress)

    def _master(
        self,
        epoch: int,
        backend: Backend,
        storage: ThreadedReconciler | None,
        numbers: SystemUsers,
        hit: Hit,
        programs: AttemptRunner,
    ) -> Master:
        settings, accounts = self._settings, self._store.accounts
        return Master(
            self._store,
            backend,
            epoch,
            self._clock,
            hit,
            storage=storage,
            tick_recorder=TickRecorder(self._store, epoch),
            spark_config=connectors_of(settings, accounts),
            port_secrets=PortSecrets(derived_key(settings.keys_dir, PURPOSE)),
            system_users=numbers,
            secret_values=ExecutionSecrets(
                accounts, Path(settings.keys_dir), settings.services_api_url, settings.offered_tokens
            ),
            programs=programs,
        )

    def _threads(
        self, epoch: int, master: Master, backend: Backend, numbers: SystemUsers, decisions: PromiseDecisions
    ) -> Iterator[LeaderThread]:
        """Start the threads beside the loop; yield each, to be closed in the reverse order."""
        store, settings, clock, waker = self._store, self._settings, self._clock, self._waker
        yield ForecastThread(master, waker, clock=clock)
        yield RunTimesThread(master.run_times, store, clock=clock)
        yield ExecutionRetention(store, removal_interval_s(settings.retention_s), clock=clock)
        amounts = ScalingAmounts(settings.prometheus_url, backend.address)
        self._scaling = ScalingThread(master, store, epoch, amounts, waker, clock=clock)
        yield self._scaling
        following = ProgressThread(master, store, ProgressAmounts(backend.address, backend.progress_file), clock=clock)
        yield following
        yield PromiseThread(master, decisions, waker, following.latest, clock=clock)
        yield NotificationThread(store.accounts, senders_of(settings), clock=clock)
        yield ScheduleThread(LeaderPlace(settings, store), waker.wake, clock=clock)
        yield EntryListThread(
            master.due_lists,
            store,
            lambda array: read_list(backend.files, numbers.user_for(array.tenant, array.user), array),
            waker.wake,
            settings.array_indices_max,
            clock=clock,
        )

    def _loop(
        self,
        master: Master,
        backend: Backend,
        answering: RpcServer,
        storage: ThreadedReconciler | None,
        progress: LeaderProgress,
    ) -> None:
        work = ServiceActivity()
        if master.policy.idle_after_s:
            now_s = self._clock.now_s()
            self._store.add_use_of_active(now_s, now_s - STRETCH_S)  # what computed while no master led is unknown
        while not self._stopping:
            progress.note()
            answering.ensure()
            began_s = time.perf_counter()
            try:
                tick = master.tick()
            except BackendError as error:
                # Unobservable services led to no decisions; they continue meanwhile.
                log.warning("cannot reach the back-end", why=str(error))
                self._waker.wait(_BACKEND_RETRY_S)
                continue
            metrics.observe_tick(tick, time.perf_counter() - began_s, self._clock)
            observe_storage(storage.report() if storage is not None else None)
            self._sample(backend, storage, work, master.policy, self._clock.monotonic_s())
            if not tick.is_due_again:
                self._waker.wait(self._pause_s(master, self._clock.now_s()))

    def _pause_s(self, master: Master, now_s: float) -> float:
        due_s = master.next_due_s(now_s)
        pause_s = min(self._settings.master_timer_s, self._settings.usage_interval_s)
        if due_s is not None:
            pause_s = min(pause_s, due_s - now_s)
        return max(pause_s, _SHORTEST_WAIT_S)

    def _sample(
        self, backend: Backend, storage: ThreadedReconciler | None, work: ServiceActivity, policy: Policy, now_s: float
    ) -> None:
        if now_s >= self._usage_at_s + self._settings.usage_interval_s:
            self._usage_at_s = now_s
            usage = backend.usage()
            metrics.observe_usage(usage)
            if self._scaling is not None:
                self._scaling.note(usage)
            ended = backend.total_usage() if isinstance(backend, TotalUsageBackend) else ()
            samples = [*usage, *ended]
            self._store.add_usage(
                [UsageSample(u.execution_id, u.service_id, u.node, u.at_s, u.cpu_s, u.memory_bytes) for u in samples]
            )
            for execution_id, at_s in work.last_computing(usage, policy).items():
                self._store.add_use_of(execution_id, at_s)
            if storage is not None:
                store_report(storage.report(), self._store)


def advertised_endpoint(settings: Settings) -> str:
    """Return the address at which the API reaches this master; empty if only the API's settings determine it."""
    endpoint = settings.master_endpoint
    anywhere = ("//*:", "//0.0.0.0:", "//[::]:")
    return settings.master_advertised_endpoint or ("" if any(text in endpoint for text in anywhere) else endpoint)


def keeper_of(settings: Settings, accounts: AccountStore, waker: TickWaker, hit: Hit) -> ThreadedReconciler | None:
    """Return the reconciler of the storage controller; None without a controller."""
    try:
        controller = ControllerSettings.from_settings(settings)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or (error if type(error) is ValueError else "it is no text")
        raise BackendRefused(
            f"cannot read the token of the storage controller (setting storage_token_file): {why}"
        ) from None
    if controller is None:
        return None
    for_views = replace(controller, timeout_s=settings.storage_view_timeout_s, attempts=1)
    services = settings.storage_services.items()
    auth_urls = {name: place.swift_url if name == S3 else place.swift_url or place.url for name, place in services}
    auth_urls = {name: url for name, url in auth_urls.items() if url}
    sign_in = TenantTokens(auth_urls, credentials_of(settings, accounts))
    slos, views, places = map(connect_lazily, (controller, for_views, replace(controller, attempts=1)))
    return ThreadedReconciler(slos, views, waker, settings.storage_interval_s, hit, sign_in, places)


def connectors_of(settings: Settings, accounts: AccountStore) -> SparkConfig:
    """Return the configuration of the object store for services."""
    places = {
        name: Place(place.url, place.region, bool(place.swift_url), place.execution_credentials)
        for name, place in settings.storage_services.items()
    }
    return SparkConfig(
        places,
        settings.storage_jars,
        credentials_of(settings, accounts),
        settings.storage_query_pushdown,
        QueryReportSettings(Path(settings.keys_dir), settings.services_api_url),
    )


def senders_of(settings: Settings) -> NotificationSenders:
    """Return the senders of notifications."""
    inside = [ip_network(network) for network in settings.webhook_networks]
    smtp_url, mail = settings.smtp_url, None
    if smtp_url is not None:
        mail = NotificationMail(smtp_url.get_secret_value(), settings.mail_from, settings.mail_domains)

    def secret(target: NotificationTarget) -> str:
        return Seal.from_keys_dir(settings.keys_dir).decrypt(target.sealed, *target.belongs_to)

    return NotificationSenders(
        NotificationWebhooks(inside), mail, secret, settings.public_url, settings.notification_retry_s
    )


def credentials_of(settings: Settings, accounts: AccountStore) -> Callable[[str], Mapping[str, Credential]]:
    """Return a function that returns the stored credentials of a tenant, by the names of services."""

    def credentials(tenant: str) -> dict[str, Credential]:
        found: dict[str, Credential] = {}
        for credential in accounts.storage_credentials(tenant):
            seal = Seal.from_keys_dir(settings.keys_dir)
            try:
                found[credential.service] = Credential(
                    credential.login, seal.decrypt(credential.sealed, tenant, credential.service, credential.login)
                )
            except CannotOpen as error:
                log.warning("cannot decrypt a credential; set it again", why=str(error))
        return found

    return credentials


_NO_WAY_BACK = "programs of version 1.0.0 fail on executions that had one: from now on, go back only by a restore"


def programs_of(settings: Settings, waker: TickWaker) -> AttemptRunner:
    """Return the runner of the prologue and the epilogue that are set."""
    wanted = {AttemptProgramKind.PROLOGUE: settings.prologue, AttemptProgramKind.EPILOGUE: settings.epilogue}
    programs = {kind: path for kind, path in wanted.items() if path}
    return AttemptRunner(programs, settings.prologue_epilogue_timeout_s, waker.wake)


def main() -> int:
    """Run the master until SIGTERM or SIGINT."""
    settings = _settings()
    configure_logging(settings.log_format, settings.log_level, "master")
    try:
        ensure_keys(Path(settings.keys_dir))
    except CannotMakeKeys as refusal:
        print(f"zoe-master: {refusal}", file=sys.stderr)
        return 2
    waker = TickWaker()
    limits = StoreLimits(retention_s=settings.retention_s)
    store = PostgresStore(settings.database_url.get_secret_value(), limits)
    process = Process(settings, store, waker, load_plugins())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.stop())
    try:
        check_program("prologue", settings.prologue)
        check_program("epilogue", settings.epilogue)
        if settings.prologue or settings.epilogue:
            log.warning("prologue or epilogue set", going_back=_NO_WAY_BACK)
        metrics.serve(settings.master_metrics_host, settings.master_metrics_port)
        process.run()
    except (*_REFUSALS, metrics.PortTaken, ProgramRefused) as refusal:
        print(f"zoe-master: {refusal}", file=sys.stderr)
        return 2
    finally:
        store.close()
    return 0


def _settings() -> Settings:
    parser = argparse.ArgumentParser(
        prog="zoe-master", description="Queue, place and run executions while this master leads."
    )
    parser.add_argument(
        "--insecure",
        action="store_true",
        help=(
            "let the local back-end serve beyond loopback, or several tenants; services can then "
            "read other tenants' data"
        ),
    )
    given = {"insecure": True} if parser.parse_args().insecure else {}
    return read_settings(Settings, "zoe-master", **given)


if __name__ == "__main__":
    sys.exit(main())
