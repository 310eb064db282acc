"""The proxy's connection to the storage controller: receives limits and reports what was moved, for all workers.

Both are JSON over ZeroMQ with CURVE. Reports are by account, or execution of one, and by the address of the client.
Limits are always complete, for proxies by name: an account without a limit may move what `others` may, or any amount if
that is missing. A proxy that is not named keeps its limits. Some limits come with the list of executions that may use
the store, and with the rules of the object store.

What executions moved is reported as counters that never fall (`moved`): those that have changed, and those that the
controller asks for, since their executions have ended (`settle`, answered by `settled`). Requests of clients are
reported in the same way once a second (`requests`), so many counters at a time. So is the CPU time of filters and views
(`computed`), which the controller bounds by cores of accounts (`cpu`).
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from base64 import b64decode
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from eventlet import sleep, spawn_n, tpool
from eventlet.green import zmq

from storage_filters.alive_executions import AliveFile, alive_file, read_alive
from storage_filters.cpu_budget import CpuBudget
from storage_filters.module_files import ModuleFiles, modules_directory
from storage_filters.newest import NewestMessage
from storage_filters.rate_table import DIRECTIONS, Direction, RateTable, Use
from storage_filters.records import hosted
from storage_filters.request_counters import RequestCounters, changed_counts
from storage_filters.rule_file import (
    BYTES,
    TIMES,
    DamagedRulesError,
    RuleFile,
    cache_file,
    operations_file,
    rules_file,
)
from storage_filters.transfer_counters import TransferCounters
from storage_filters.use_counters import UseCounters

REPORT_INTERVAL_S = 0.25
_TRY_AGAIN_S = 5.0
_REPORTS_A_LOOK = 2  # modules that are missing are looked for twice a second
_QUEUE_MAX = 40  # reports that are kept while the controller is away
_KEY_LINES = 3
SETTLED_MAX = 200
"""Counters of ended executions that are asked for at a time."""
_REPORTS_A_LIST = 4  # requests are reported each second
_SILENCE_S = 5.0  # a controller that runs sends limits four times a second
_REPORTS_OF_ALL = 240  # all counters are told again each minute, for a controller that lost some
Uses = Mapping[tuple[str, Direction], Use]


def addresses(text: str) -> list[str]:
    """Return the addresses of one or several controllers, which commas separate."""
    return [address.strip() for address in text.split(",") if address.strip()]


def secured(one: Any, key_file: str) -> Any:
    """Return a socket with the keys of a file: the controller's public key, then the own public and secret ones."""
    lines = Path(key_file).read_text().split()
    if len(lines) != _KEY_LINES:
        raise ValueError(f"{key_file} needs three lines: two public keys and a secret key")
    one.curve_serverkey, one.curve_publickey, one.curve_secretkey = (line.encode() for line in lines)
    return one


class LimitsAgent:
    """Runs in the worker that holds the lock; another one takes over when that worker ends."""

    def __init__(
        self,
        table: RateTable,
        clients: RateTable,
        counters: TransferCounters,
        requests: RequestCounters,
        uses: UseCounters,
        budget: CpuBudget,
        conf: Mapping[str, str],
        logger: Any,
    ) -> None:
        self._table = table
        self._clients = clients
        self._counters = counters
        self._requests = requests
        self._uses = uses
        self._budget = budget
        self._asked: Collection[str] = ()
        self._conf = conf
        self._logger = logger
        self._name = conf.get("proxy_name", socket.gethostname())
        self._modules = ModuleFiles(modules_directory(conf["rates_file"]), tpool.execute)
        self._rules = RuleFile(rules_file(conf["rates_file"]))
        self._operations = RateTable(operations_file(conf["rates_file"]))
        self._cache = RateTable(cache_file(conf["rates_file"]))
        self._alive = AliveFile(alive_file(conf["rates_file"]))
        self._lock = Path(conf["rates_file"]).with_suffix(".lock")
        self._lock.touch(0o600)
        self._epoch = time.time_ns()
        self._newest = NewestMessage(_SILENCE_S)
        self._told_by: int | None = None
        self._told_all = True
        """Whether no report was lost, as far as is known."""
        self._heard_s = self._known_s = time.monotonic()

    def run(self) -> None:
        """Run until the process ends."""
        while not self._has_lock():
            sleep(_TRY_AGAIN_S)
        context = zmq.Context()
        limits = secured(context.socket(zmq.SUB), self._conf["key_file"])
        limits.setsockopt(zmq.SUBSCRIBE, b"")
        for address in addresses(self._conf["limits_from"]):
            limits.connect(address)
        usages = {address: self._usage(context, address) for address in addresses(self._conf["usage_to"])}
        spawn_n(self._listen, limits)
        self._report(context, usages, limits)

    def _has_lock(self) -> bool:
        self._descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            return False
        return True

    def _usage(self, context: Any, address: str) -> Any:
        usage = secured(context.socket(zmq.PUSH), self._conf["key_file"])
        usage.setsockopt(zmq.SNDHWM, _QUEUE_MAX)
        usage.connect(address)
        return usage

    def _listen(self, limits: Any) -> None:
        while True:
            message = limits.recv()
            self._heard_s = time.monotonic()
            try:
                self._take(json.loads(message))
            except Exception as error:  # without this loop, limits would never change again
                self._logger.error("invalid limits: %r", error)

    def _take(self, message: dict[str, Any]) -> None:
        """Take in limits, ignoring older ones than the present; another epoch means another controller."""
        if "module" in message:
            self._modules.keep(b64decode(message["module"]))
            return
        order, now_s = (int(message["epoch"]), int(message["seq"])), time.monotonic()
        if self._newest.outdated(order, now_s):
            return
        self._told_by = order[0]
        if self._name in message.get("heard", (self._name,)):
            self._known_s = now_s
        if "rules" in message:
            self._rules.write(message["rules"])
        if "executions" in message:
            self._alive.write(read_alive(message["executions"]))
        self._asked = [str(one) for one in message.get("settle", ())][:SETTLED_MAX]
        if self._name not in message["proxies"]:
            return
        rates = {
            (str(account), direction): rate
            for account, limits in message["proxies"][self._name].items()
            for direction, rate in _rates(limits, account).items()
        }
        others = _rates(message.get("others", {}).get(self._name, {}), "others")
        self._table.set_rates(rates, now_s, others)
        if (cpu := message.get("cpu")) is not None:
            self._budget.bound({str(one): float(cores) for one, cores in cpu["accounts"].items()}, cpu["others"])
        self._newest.heard(order, now_s)

    def _connected_again(self, context: Any, usages: dict[str, Any], limits: Any, now_s: float) -> None:
        """Connect again where nothing is heard: a connection that was refused once, since the controller did not have
        this proxy's key yet, is not tried again by ZeroMQ. It goes on trying one that has reports to send, even after
        it was told to disconnect, so these need another socket.
        """
        if now_s - self._heard_s > _SILENCE_S:
            self._heard_s = now_s
            for address in addresses(self._conf["limits_from"]):
                _connect_again(limits, address)
        if now_s - self._known_s > _SILENCE_S:
            self._known_s, self._told_all = now_s, False
            for address, usage in usages.items():
                usage.close(linger=0)
                usages[address] = self._usage(context, address)

    def _report(self, context: Any, usages: dict[str, Any], limits: Any) -> None:
        """Report to all controllers, so that each is ready to lead. Report also accounts that wait for their turn, with
        what they moved or zero: they have not ended, and could use more.
        """
        at_s, number = time.monotonic(), 0
        before, clients_before = self._table.uses(at_s), self._clients.uses(at_s)
        operations_before = self._operations.uses(at_s)
        told: Mapping[str, Any] = {}
        requests_told: dict[str, Any] = {}
        uses_told: dict[str, Any] = {}
        computed_told: dict[str, Any] = {}
        told_to: int | None = None
        while True:
            sleep(REPORT_INTERVAL_S)
            number, now_s, asked = number + 1, time.monotonic(), self._asked
            self._connected_again(context, usages, limits, now_s)
            if told_to != self._told_by or not self._told_all or number % _REPORTS_OF_ALL == 0:
                told_to, self._told_all, told = self._told_by, True, {}
                requests_told.clear()
                uses_told.clear()
                computed_told.clear()
            now, clients, counts = self._table.uses(now_s), self._clients.uses(now_s), self._counters.counts()
            operations = self._operations.uses(now_s)
            changed = {name for name, count in counts.items() if told.get(name) != count}
            report = {
                "proxy": self._name,
                "epoch": self._epoch,
                "seq": number,
                "seconds": now_s - at_s,
                "accounts": _moved(before, now),
                "waiting": [place for place, use in now.items() if use.waits],
                "clients": _moved(clients_before, clients),
                "filters": sorted(hosted),
                "operations": _moved(operations_before, operations),
                "lacks": self._lacks() if number % _REPORTS_A_LOOK == 1 else [],
                "moved": {name: counts[name].numbers() for name in changed | (counts.keys() & set(asked))},
                "settled": list(asked),
                "cache": _counted(self._cache.uses(now_s)),
            }
            if number % _REPORTS_A_LIST == 0:
                report["requests"] = changed_counts(requests_told, self._requests.counts())
                report["uses"] = changed_counts(uses_told, self._uses.counts())
                report["computed"] = changed_counts(computed_told, self._budget.counts())
            for usage in usages.values():
                try:
                    usage.send_string(json.dumps(report), flags=zmq.NOBLOCK)
                except zmq.Again:
                    self._told_all = False
                    self._logger.warning("the storage controller does not accept reports")
            before, clients_before, at_s, told = now, clients, now_s, counts
            operations_before = operations

    def _lacks(self) -> list[str]:
        """Return the modules that rules or stored objects need, and that are not here."""
        with suppress(DamagedRulesError):
            versions = self._rules.book().modules.values()
            return self._modules.missing(one.sha256 for modules in versions for one in modules.values())
        return []


def _connect_again(one: Any, address: str) -> None:
    with suppress(zmq.ZMQError):  # it may be gone already
        one.disconnect(address)
    one.connect(address)


def _moved(before: Uses, now: Uses) -> dict[str, dict[str, int]]:
    """Return bytes by name and direction, for those that moved some or wait."""
    found: dict[str, dict[str, int]] = {}
    for (name, direction), use in now.items():
        known = before.get((name, direction))
        # A name that left the table and came back counts from zero again.
        moved = use.total - (known.total if known and known.total <= use.total else 0)
        if moved or use.waits:
            found.setdefault(name, {})[direction] = moved
    return found


def _counted(uses: Uses) -> dict[str, list[int]]:
    """Return how often, and bytes, of what a cache counted since the machine was started."""
    totals = {place: use.total for place, use in uses.items()}
    return {name: [totals.get((name, TIMES), 0), totals.get((name, BYTES), 0)] for name, _ in totals}


def _rates(limits: Mapping[str, Any], subject: str) -> dict[Direction, float]:
    """Return bytes per second of limited directions. ValueError for zero or less."""
    found: dict[Direction, float] = {one: float(limits[one]) for one in DIRECTIONS if limits.get(one) is not None}
    if not all(rate > 0 for rate in found.values()):
        raise ValueError(f"{subject} may {found}")
    return found
