"""The proxy's connection to the storage controller: receives limits and reports moved bytes, for all workers.

Both are JSON over ZeroMQ with CURVE. Reports are by account or execution, and by the client's address. Limits are
always complete, for proxies by name: an account without a limit may move what `others` may, or any amount if that is
missing. A proxy that is not named keeps its limits. Some limits come with the list of executions that may use the
store, and with the rules of the object store.

Bytes of executions are reported as counters that never fall (`moved`): the changed ones, and those requested by the
controller because their executions have ended (`settle`, answered by `settled`). Requests of clients are reported in
the same way once a second (`requests`), a bounded number of counters at a time. So is the CPU time of filters and views
(`add_cpu_time`), which the controller bounds by cores of accounts (`cpu`), and samples of contents (`samples`).
"""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from eventlet import tpool

from storage_filters.bandwidth.content_samples import ContentSamples
from storage_filters.counting.cpu_budget import CpuBudget
from storage_filters.counting.rate_table import DIRECTIONS, Direction, RateTable, Use
from storage_filters.counting.request_counters import RequestCounters, changed_counts
from storage_filters.counting.transfer_counters import TransferCounters
from storage_filters.counting.use_counters import UseCounters
from storage_filters.execution_auth.alive_executions import AliveFile, alive_file, read_alive
from storage_filters.rules.file import (
    BYTES,
    TIMES,
    DamagedRulesError,
    RuleFile,
    cache_file,
    operations_file,
    rules_file,
)
from storage_filters.rules.hosted import hosted
from storage_filters.transforms.modules.files import ModuleFiles, modules_directory

_REPORTS_A_LOOK = 2  # missing modules are looked for twice a second
SETTLED_MAX = 200
"""Most counters of ended executions in one request of the controller."""
REPORTS_A_LIST = 4
"""Requests are reported with every fourth report, once a second."""
Uses = Mapping[tuple[str, Direction], Use]


class MovedBytes:
    """Bytes moved since the last call, for all names of a table."""

    def __init__(self, table: RateTable) -> None:
        self._table = table
        self._before = table.uses_by_account(time.monotonic())

    def since(self, now_s: float) -> tuple[dict[str, dict[str, int]], Uses]:
        """Return the bytes by name and direction, and the use of the table."""
        now = self._table.uses_by_account(now_s)
        before, self._before = self._before, now
        return _moved_bytes(before, now), now


class LimitsAgent:
    """The proxy's side of the connection: applies limits, and reports."""

    def __init__(
        self,
        table: RateTable,
        clients: RateTable,
        counters: TransferCounters,
        requests: RequestCounters,
        signers: RequestCounters,
        uses: UseCounters,
        budget: CpuBudget,
        samples: ContentSamples,
        rates_file: str,
        name: str,
    ) -> None:
        self._table = table
        self._counters = counters
        self._requests = requests
        self._signers = signers
        self._uses = uses
        self._budget = budget
        self._samples = samples
        self._samples_told: dict[str, Any] = {}
        self._asked: Collection[str] = ()
        self._name = name
        self._modules = ModuleFiles(modules_directory(rates_file), tpool.execute)
        self._rules = RuleFile(rules_file(rates_file))
        self._cache = RateTable(cache_file(rates_file))
        self._alive = AliveFile(alive_file(rates_file))
        self._of_accounts, self._of_clients = MovedBytes(table), MovedBytes(clients)
        self._of_rules = MovedBytes(RateTable(operations_file(rates_file)))
        self._at_s = time.monotonic()
        self._told: Mapping[str, Any] = {}
        self._requests_told: dict[str, Any] = {}
        self._signers_told: dict[str, Any] = {}
        self._uses_told: dict[str, Any] = {}
        self._computed_told: dict[str, Any] = {}

    def take_any(self, message: Mapping[str, Any]) -> None:
        """Keep a module."""
        self._modules.keep(b64decode(message["module"]))

    def take(self, message: Mapping[str, Any]) -> bool:
        """Apply the limits of a message, and the rules, executions and bounds that come with them."""
        if "rules" in message:
            self._rules.write(message["rules"])
        if "executions" in message:
            self._alive.write(read_alive(message["executions"]))
        self._asked = [str(entry) for entry in message.get("settle", ())][:SETTLED_MAX]
        if not take_rates(message, self._name, self._table):
            return False
        take_bounds(message, self._budget)
        return True

    def report(self, number: int, again: bool) -> Mapping[str, Any]:
        """Return the bytes and requests since the last report. Accounts with pieces that wait for their turn are
        included, even with zero bytes: they are active and could use more.
        """
        asked, now_s = self._asked, time.monotonic()
        if again:
            self._told = {}
            self._requests_told.clear()
            self._signers_told.clear()
            self._uses_told.clear()
            self._computed_told.clear()
            self._samples_told.clear()
        accounts, now = self._of_accounts.since(now_s)
        counts = self._counters.counts()
        changed = {name for name, count in counts.items() if self._told.get(name) != count}
        report = {
            "seconds": now_s - self._at_s,
            "accounts": accounts,
            "waiting": waiting(now),
            "clients": self._of_clients.since(now_s)[0],
            "filters": sorted(hosted),
            "operations": self._of_rules.since(now_s)[0],
            "lacks": self._lacks() if number % _REPORTS_A_LOOK == 1 else [],
            "moved": {name: counts[name].numbers() for name in changed | (counts.keys() & set(asked))},
            "settled": list(asked),
            "cache": _cache_counts(self._cache.uses_by_account(now_s)),
        }
        if number % REPORTS_A_LIST == 0:
            report["requests"] = changed_counts(self._requests_told, self._requests.counts())
            report["signers"] = changed_counts(self._signers_told, self._signers.counts())
            report["uses"] = changed_counts(self._uses_told, self._uses.counts())
            report["computed"] = changed_counts(self._computed_told, self._budget.counts())
            report["samples"] = changed_counts(self._samples_told, self._samples.counts())
        self._at_s, self._told = now_s, counts
        return report

    def _lacks(self) -> list[str]:
        """Return the modules that rules or stored objects need and that are missing here."""
        with suppress(DamagedRulesError):
            return self._modules.missing({version.sha256 for version in self._rules.book().versions()})
        return []


def take_rates(message: Mapping[str, Any], name: str, table: RateTable) -> bool:
    """Set the limits that a message has for this server; return whether it has any. Raises ValueError."""
    if name not in message["proxies"]:
        return False
    rates = {
        (str(account), direction): rate
        for account, limits in message["proxies"][name].items()
        for direction, rate in _rates(limits, account).items()
    }
    table.set_rates(rates, time.monotonic(), _rates(message.get("others", {}).get(name, {}), "others"))
    return True


def take_bounds(message: Mapping[str, Any], budget: CpuBudget) -> None:
    """Set the cores that filters and views may use, if a message has them. Raises ValueError."""
    if (cpu := message.get("cpu")) is not None:
        budget.bound({str(entry): float(cores) for entry, cores in cpu["accounts"].items()}, cpu["others"])


def waiting(uses: Uses) -> list[tuple[str, Direction]]:
    """Return the names with bytes that wait for their turn."""
    return [place for place, use in uses.items() if use.waits]


def _moved_bytes(before: Uses, now: Uses) -> dict[str, dict[str, int]]:
    """Return the moved bytes by name and direction, of names that moved some or have some waiting."""
    found: dict[str, dict[str, int]] = {}
    for (name, direction), use in now.items():
        known = before.get((name, direction))
        # A name that left the table and came back counts from zero again.
        moved = use.total - (known.total if known and known.total <= use.total else 0)
        if moved or use.waits:
            found.setdefault(name, {})[direction] = moved
    return found


def _cache_counts(uses: Uses) -> dict[str, list[int]]:
    """Return the number of events and bytes that a cache counted since the machine was started."""
    totals = {place: use.total for place, use in uses.items()}
    return {name: [totals.get((name, TIMES), 0), totals.get((name, BYTES), 0)] for name, _ in totals}


def _rates(limits: Mapping[str, Any], subject: str) -> dict[Direction, float]:
    """Return bytes per second of the limited directions. Raises ValueError for zero or less."""
    found: dict[Direction, float] = {
        entry: float(limits[entry]) for entry in DIRECTIONS if limits.get(entry) is not None
    }
    if not all(rate > 0 for rate in found.values()):
        raise ValueError(f"{subject} may {found}")
    return found
