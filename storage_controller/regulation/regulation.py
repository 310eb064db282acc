"""The loop that divides bandwidth: it receives reports over ZeroMQ, and sends limits four times a second.

Each proxy is a node of the algorithm, or each object server if these enforce bandwidth. A report counts only if it is
newer than the last one of that server, by the epoch of the server's start and by its number.
"""

from __future__ import annotations

import logging
import math
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from storage_bridge.bandwidth.assignment import ClaimKey, TransferKind, claimant, execution_of, tenant_of
from storage_bridge.bandwidth.meter import Meter, TransferProgress
from storage_bridge.bandwidth.regulator import RateRegulator, RateSettings, TransferReport
from storage_bridge.model import AchievedBandwidth, BandwidthSlo, MissedBandwidth, StoreExecution
from storage_controller.database.controller_ledger import BANDWIDTH_CONTROLLER, ControllerLedger
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.promises.availability import with_undeliverable
from storage_controller.promises.filter_cores import CoresLedger, CpuBounds
from storage_controller.promises.held_places import EnforcingServers
from storage_controller.regulation.replication import Pace, ReplicationPace
from storage_controller.regulation.rule_judge import Added, RuleJudge
from storage_controller.regulation.server_reports import DIRECTIONS, BadReport, ServerReport, read_report
from storage_controller.regulation.server_sockets import Endpoints, Servers
from storage_controller.regulation.transfers import TransferBook
from storage_controller.rules.module_ledger import ModuleLedger
from storage_controller.rules.rule_store import RuleLedger
from storage_controller.traffic.contents import Contents
from storage_controller.traffic.traffic import Traffic
from storage_filters.bandwidth.newest import NewestMessage
from storage_filters.execution_auth.alive_executions import AliveExecutions
from storage_filters.filter_host.records import KINDS
from storage_filters.rules.documents import book_document
from storage_filters.rules.placing import AT_OBJECT_SERVERS
from storage_filters.rules.rules import CACHING
from storage_filters.transforms.modules.files import WANTED_MAX
from zoe_client.words.amounts import count_with_noun
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
EPOCH_S = 0.25
_HEARD_S = 2.0  # a proxy reports four times a second
_EPOCHS_A_LIST = 4  # the list of executions is sent when it changes, and each second
_EPOCHS_A_BOOK = 8  # rules are, too, and each other second
_NAMES = {traffic: name for name, traffic in DIRECTIONS.items()}


CacheCounts = Mapping[str, tuple[int, int]]
"""Events and bytes by name: `hit`, `unasked`, `miss`, `stale`, `evicted`."""


@dataclass(slots=True)
class _LastReports:
    """Last reports of servers, by name. nodes: times of object servers' reports, by the monotonic clock."""

    reports: dict[str, TransferReport] = field(default_factory=dict)
    of_clients: dict[str, TransferReport] = field(default_factory=dict)
    nodes: dict[str, float] = field(default_factory=dict)
    hosted: dict[str, frozenset[str]] = field(default_factory=dict)
    caches: dict[str, CacheCounts] = field(default_factory=dict)


@dataclass(slots=True)
class _Outbox:
    """Data for servers, and the last version sent. lacked: modules that a server requested."""

    alive: AliveExecutions | None = None
    told_alive: AliveExecutions | None = None
    rules: Mapping[str, Any] | None = None
    told_rules: Mapping[str, Any] | None = None
    lacked: set[str] = field(default_factory=set)

    def due(self, number: int) -> dict[str, Any]:
        """Return the lists for message `number`: changed ones, and each list at its interval."""
        found: dict[str, Any] = {}
        if self.alive is not None and (self.alive != self.told_alive or number % _EPOCHS_A_LIST == 0):
            self.told_alive, found["executions"] = self.alive, asdict(self.alive)
        if self.rules is not None and (self.rules != self.told_rules or number % _EPOCHS_A_BOOK == 0):
            self.told_rules = found["rules"] = self.rules
        return found


class Regulation:
    """The thread of the loop. `epoch` is that of the lead; without the lead, reports are read and no limits are sent.
    `executions`: whether executions have credentials, so that proxies need the list of active ones. `traffic` counts
    the reports of proxies; `added` returns the values of the installation's metrics.
    """

    def __init__(
        self,
        ledger: Ledger,
        places: EnforcingServers,
        endpoints: Endpoints,
        account_prefix: str,
        settings: RateSettings,
        epoch: Callable[[], int | None],
        executions: bool = False,
        supervisor: Supervisor | None = None,
        replication: Pace | None = None,
        cpu: CpuBounds | None = None,
        traffic: Traffic | None = None,
        added: Added = lambda *_: {},
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._ledger = ledger
        self._cpu = cpu or CpuBounds()
        self._bounds: CpuBounds | None = None
        self._cores = CoresLedger(ledger, clock)
        self._supervisor = supervisor or Supervisor(clock)
        self._controllers = ControllerLedger(ledger)
        self._replication = ReplicationPace(self._controllers, self._supervisor, replication, clock)
        self._mode = Mode.ON
        self._places = places
        self._regulator = RateRegulator(places.capacity, settings)
        self._hold_s = settings.hold_s
        self._prefix = account_prefix
        self._slos: Mapping[ClaimKey, int] = {}
        self._promised: Mapping[str, BandwidthSlo] = {}
        self._executions = executions
        self._rules = RuleLedger(ledger, clock)
        self._modules = ModuleLedger(ledger, clock)
        self.traffic = traffic or Traffic(self._tenant, clock)
        self.of_signers, self.of_nodes = Traffic(self._tenant, clock), Traffic(self._tenant, clock)
        self.contents = Contents(self._tenant, clock)
        self.judge = RuleJudge(self._controllers, self._supervisor, self.traffic, self.contents, added, clock)
        self._meters = {server: Meter(server) for server in (*places.proxies, *places.object_servers)}
        self._newest = {server: NewestMessage(settings.hold_s) for server in self._meters}
        self._book = TransferBook(ledger, places.proxies, clock)
        self._of_clients = {proxy: Meter(proxy) for proxy in places.proxies}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._epoch = epoch
        self._number = 0
        self._servers = Servers(endpoints)
        self._heard, self._telling = _LastReports(), _Outbox()
        self._began_s = clock.monotonic_s()
        self.available: Callable[[], BandwidthSlo | None] = lambda: None
        """What the store can guarantee while servers are away; None: unknown."""
        self._thread = threading.Thread(target=self._run, name="zoe-regulation", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; the proxies keep the last limits."""
        self._closing.set()
        self._thread.join()
        self._servers.close()

    def achieved_by_tenant(self) -> Mapping[str, AchievedBandwidth]:
        """Return the recent bandwidth of each tenant, from the reports that are not too old."""
        return self._rates(self._heard.reports, tenant_of)

    def achieved_by_execution(self) -> Mapping[str, AchievedBandwidth]:
        """Return the recent bandwidth of each active execution with a credential."""
        by_execution = self._rates(self._heard.reports, execution_of)
        return {execution: rates for execution, rates in by_execution.items() if execution}

    def counts_transfers(self) -> bool:
        """Return whether all proxies report the transfers of executions, so that a missing counter means no bytes."""
        return all(self._book.counting.values())

    def hosted_filters(self) -> frozenset[str]:
        """Return the object filters that all proxies have which ever reported; all existing ones before the first
        report.
        """
        return frozenset((*KINDS, CACHING, AT_OBJECT_SERVERS)).intersection(*self._heard.hosted.values())

    def hosted_by(self) -> Mapping[str, frozenset[str]]:
        """Return the object filters of each proxy that ever reported."""
        return dict(self._heard.hosted)

    def metrics(self) -> Mapping[int, Mapping[str, float]]:
        """Return the values of metrics that the proxies know, by rule, and of rules in a dry run."""
        return self.judge.values()

    def active(self) -> Mapping[str, bool]:
        """Return whether the condition of each rule with metrics holds, by its controller."""
        return self.judge.active()

    def silent_s(self) -> Mapping[str, float]:
        """Return the seconds since the last report of each configured proxy; infinite without a report."""
        now_s = self._clock.monotonic_s()
        with self._lock:
            return {
                name: now_s - self._heard.reports[name].at_s if name in self._heard.reports else math.inf
                for name in self._places.proxies
            }

    def silent_nodes_s(self) -> Mapping[str, float]:
        """Return the same for the object servers that enforce bandwidth."""
        return self._silent_nodes_s(self._places.nodes)

    def unheard_s(self) -> Mapping[str, float]:
        """Return the seconds for which each enforcing server has reported nothing, at most since the start of this."""
        most_s = self._clock.monotonic_s() - self._began_s
        silent = {**self.silent_s(), **self.silent_nodes_s()}
        return {name: min(seconds, most_s) for name, seconds in silent.items()}

    def _silent_nodes_s(self, names: Iterable[str]) -> dict[str, float]:
        now_s, heard_s = self._clock.monotonic_s(), dict(self._heard.nodes)
        return {name: now_s - heard_s.get(name, -math.inf) for name in names}

    def caches(self) -> Mapping[str, CacheCounts]:
        """Return the counters of proxies' caches since the start of their machines, as last reported."""
        return dict(self._heard.caches)

    def clients(self) -> Mapping[str, AchievedBandwidth]:
        """Return the recent bandwidth of each client address, for the proxies that report it."""
        return self._rates(self._heard.of_clients, str)

    def _rates(self, reports: Mapping[str, TransferReport], name: Callable[[str], str]) -> dict[str, AchievedBandwidth]:
        with self._lock:
            fresh = [r for r in reports.values() if self._clock.monotonic_s() - r.at_s <= self._hold_s]
        found: dict[str, dict[TransferKind, float]] = {}
        for entry in (transfers for report in fresh for transfers in report.transfers):
            rates = found.setdefault(name(entry.tenant), {})
            rates[entry.traffic] = rates.get(entry.traffic, 0.0) + (entry.rate or 0.0)
        return {
            t: AchievedBandwidth(r.get(TransferKind.READ, 0.0), r.get(TransferKind.WRITE, 0.0))
            for t, r in found.items()
        }

    def readable(self, tenant: str) -> int | None:
        """Return the bytes per second that a tenant would get now if it read as fast as it may; None while no proxy
        reports.
        """
        promised = self._promised.get(tenant, BandwidthSlo()).read_bytes_per_s
        return self._regulator.attainable((tenant, TransferKind.READ), promised)

    def missed_by_tenant(self) -> Mapping[str, MissedBandwidth]:
        """Return the shortfall of active tenants' SLOs in the last epoch; while servers are away, at least what the
        others cannot deliver.
        """
        found: dict[str, dict[TransferKind, int]] = {}
        for (name, traffic), amount in self._regulator.missed.items():
            amounts = found.setdefault(tenant_of(name), {})
            amounts[traffic] = amounts.get(traffic, 0) + self._places.client_bytes(amount, traffic)
        measured = {
            t: MissedBandwidth(m.get(TransferKind.READ, 0), m.get(TransferKind.WRITE, 0)) for t, m in found.items()
        }
        return with_undeliverable(measured, self._promised, self.available())

    def _run(self) -> None:
        next_s = self._clock.monotonic_s()
        while not self._closing.is_set():
            # After a pause of the process, continue from now, without catching up.
            next_s = max(next_s, self._clock.monotonic_s() - EPOCH_S) + EPOCH_S
            try:
                reports = self._collect(next_s)
                if (epoch := self._epoch()) is None:
                    continue
                self._read_guarantees()
                self._flush_transfers()
                self._share(reports)
                self._push(epoch)
            except Exception:  # a defect must not end the loop: limits would never change again
                _log.exception("an epoch of the bandwidth algorithm failed")

    def _share(self, reports: Sequence[TransferReport]) -> None:
        """Run the bandwidth algorithm. After a crash it restarts later; until then the last limits stay in force."""
        if self._mode is Mode.OFF or not self._supervisor.ready(BANDWIDTH_CONTROLLER):
            return
        with self._supervisor.run(BANDWIDTH_CONTROLLER):
            self._regulator.epoch(self._clock.monotonic_s(), reports, self._slos)
            shares = len({**self._regulator.limits, **self._regulator.standing})
            would = "would have " if self._mode is Mode.DRY else ""
            limits, promises = count_with_noun(shares, "limit"), count_with_noun(len(self._slos), "promise")
            self._supervisor.record_action(BANDWIDTH_CONTROLLER, f"{would}set {limits} for {promises}")

    def _collect(self, until_s: float) -> list[TransferReport]:
        found: list[TransferReport] = []
        while (left_s := until_s - self._clock.monotonic_s()) > 0 and not self._closing.is_set():
            if self._servers.reports.poll(int(min(left_s, 0.2) * 1000) + 1):
                report = self._read(self._servers.reports.recv())
                if report is not None:
                    found.append(report)
        return found

    def _read(self, message: bytes) -> TransferReport | None:
        """Handle a message; return its report for the algorithm, if any."""
        try:
            found = read_report(message, self._tenant)
            if found.server not in self._newest:
                raise BadReport(f"unknown server {found.server}")
            now_s = self._clock.monotonic_s()
            if self._newest[found.server].is_outdated(found.order, now_s):
                return None
            if found.server in self._of_clients:
                self.traffic.hear(found.server, found.requests, found.computed)
                self.of_signers.hear(found.server, found.signers)
                self.contents.hear(found.server, found.samples)
                self._book.hear(found.server, found.moved, found.settled, found.uses)
            else:  # a proxy counted their bytes, but not their CPU time
                self.traffic.hear(found.server, {}, found.computed)
                self.of_nodes.hear(found.server, found.requests, found.computed)
        except (BadReport, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
            _log.error("invalid report of a server: %s", error)
            return None
        self._newest[found.server].record(found.order, now_s)
        report = self._meters[found.server].add(found.progress, now_s)
        if found.server in self._of_clients:
            self._hear_proxy(found, report, now_s)
        else:
            self._heard.nodes[found.server] = now_s
        return report if found.server in self._places.capacity.nodes else None

    def _hear_proxy(self, found: ServerReport, report: TransferReport, now_s: float) -> None:
        self.judge.hear(found.operations, now_s)
        self._heard.hosted[found.server] = found.hosted
        if len(self._telling.lacked) < WANTED_MAX:
            self._telling.lacked |= found.lacks
        self._heard.caches[found.server] = found.cache
        client_report = self._of_clients[found.server].add(
            TransferProgress(found.progress.seconds, found.clients), now_s
        )
        with self._lock:
            self._heard.reports[found.server] = report
            self._heard.of_clients[found.server] = client_report

    def _read_guarantees(self) -> None:
        """Read the guarantees; while the database is away, the last ones stay in force."""
        try:
            # In a separate transaction, since no credential is created meanwhile.
            executions, newest = self._ledger.active_executions() if self._executions else ([], 0)
            with self._ledger.together():
                promised = self._ledger.guarantees_by_tenant()
                books = self._rules.books()
                self._mode = self._controllers.mode(BANDWIDTH_CONTROLLER)
                self._bounds = self._cpu.replaced_by(self._cores.cores())
                self._replication.look()
        except Exception as error:
            _log.warning("cannot read the guarantees: %s", error)
            return
        self._telling.rules = book_document(
            replace(books.held, metrics=self.judge.judge(books, self._clock.monotonic_s()))
        )
        self._promised, self._slos = promised, self._places.server_rates(guarantees_by_claim(promised, executions))
        if self._executions:
            alive: dict[str, dict[str, int]] = {}
            for execution in executions:
                alive.setdefault(self._prefix + execution.tenant, {})[execution.id] = execution.generation
            self._telling.alive = AliveExecutions(newest, alive)

    def _flush_transfers(self) -> None:
        try:
            if self._executions:
                self._book.flush()
        except Exception as error:
            _log.warning("cannot store the transfers of executions, retrying: %s", error)

    def _push(self, epoch: int) -> None:
        """Send everything each time: a proxy that was away needs no history."""
        regulator = self._regulator
        others = {proxy: dict.fromkeys(DIRECTIONS, max(rate, 1)) for proxy, rate in regulator.newcomers.items()}
        proxies: dict[str, dict[str, dict[str, int]]] = {proxy: {} for proxy in others}
        for ((tenant, traffic), proxy), rate in {**regulator.limits, **regulator.standing}.items():
            accounts = proxies.setdefault(proxy, {})
            accounts.setdefault(self._prefix + tenant, {})[_NAMES[traffic]] = max(rate, 1)
        for server in self._meters.keys() - self._places.capacity.nodes:
            proxies[server] = {}  # bandwidth is not enforced there, or no longer
        if self._mode is not Mode.ON:  # nor without the algorithm
            proxies, others = {server: {} for server in self._meters}, {}
        self._number += 1
        message: dict[str, Any] = {"epoch": epoch, "seq": self._number, "proxies": proxies, "others": others}
        message["replication"] = self._replication.rate(regulator.claims)
        message["settle"] = self._book.requested_counters
        if self._bounds is not None:  # otherwise the proxies keep their bounds
            cores = {self._prefix + tenant: entry for tenant, entry in self._bounds.of_tenants.items()}
            message["cpu"] = {"accounts": cores, "others": self._bounds.others}
        silent = {**self.silent_s(), **self._silent_nodes_s(self._places.object_servers)}
        message["heard"] = sorted(name for name, silent_s in silent.items() if silent_s <= _HEARD_S)
        message |= self._telling.due(self._number)
        self._servers.limits.send_json(message)
        self._send_module()

    def _send_module(self) -> None:
        """Send a module that a proxy lacks, to all: the others will need it soon."""
        if not self._telling.lacked:
            return
        sha256 = self._telling.lacked.pop()
        try:
            content = self._modules.content(sha256)
        except Exception as error:
            _log.warning("cannot read the module %s, which is asked for again: %s", sha256, error)
            return
        if content is not None:
            self._servers.limits.send_json({"module": b64encode(content).decode()})

    def _tenant(self, account: str) -> str:
        return account.removeprefix(self._prefix)


def guarantees_by_claim(
    promised: Mapping[str, BandwidthSlo], executions: Sequence[StoreExecution]
) -> dict[ClaimKey, int]:
    """Return the guarantee of each claim: executions their own, and each tenant the rest of its guarantee."""
    found: dict[ClaimKey, int] = {}
    left = {(tenant, traffic): rate for tenant, slo in promised.items() for traffic, rate in _by_traffic(slo)}
    for execution in executions:
        for traffic, rate in _by_traffic(execution.slo):
            found[claimant(execution.tenant, execution.id), traffic] = rate
            left[execution.tenant, traffic] = left.get((execution.tenant, traffic), 0) - rate
    return found | {key: rate for key, rate in left.items() if rate > 0}


def _by_traffic(slo: BandwidthSlo) -> list[tuple[TransferKind, int]]:
    both = (TransferKind.READ, slo.read_bytes_per_s), (TransferKind.WRITE, slo.write_bytes_per_s)
    return [(traffic, rate) for traffic, rate in both if rate is not None]
