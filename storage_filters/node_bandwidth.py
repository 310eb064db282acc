"""Object server filter: limits and counts bytes, requests and CPU time of filters for each account at this server.

    [pipeline:main]
    pipeline = healthcheck recon zoe_node_bandwidth zoe_replication zoe_pushdown zoe_object_filters object-server
    [filter:zoe_node_bandwidth]
    paste.filter_factory = storage_filters.node_bandwidth:filter_factory
    rates_file = /run/swift/zoe-node-rates
    node_name = object1
    limits_from = tcp://controller:5561
    usage_to = tcp://controller:5562
    key_file = /etc/swift/zoe.key

Put it before all filters that transform objects, so that it counts the bytes on the network. The storage controller
pushes limits if its setting `bandwidth_nodes` names this server; otherwise it pushes only the cores of filters. Traffic
between servers of the store is neither counted nor limited; see `replication.py`.

A proxy waits for an object server that limits an account. The proxy's `node_timeout` and `recoverable_node_timeout`
have to exceed the time for a piece of 64 KB for each stream of the slowest account, at its limit.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from eventlet import spawn_n
from swift.common.utils import close_if_possible, config_true_value, get_logger

from storage_filters.bandwidth.controller_connection import ControllerConnection
from storage_filters.bandwidth.limits import REPORTS_A_LIST, MovedBytes, take_bounds, take_rates, waiting
from storage_filters.counting.computing import Computing
from storage_filters.counting.cpu_budget import CpuBudget
from storage_filters.counting.pacing import PIECE_BYTES, PacedInput, pace_piece
from storage_filters.counting.rate_table import RateTable, belonging_to, name_in_table
from storage_filters.counting.request_computing import attach_computing
from storage_filters.counting.request_counters import (
    CountedRequest,
    RequestCounters,
    changed_counts,
    request_name,
    requests_file,
)
from storage_filters.wsgi.headers import NODE_EXECUTION, environ_key
from storage_filters.wsgi.object_requests import text_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
_OBJECT_PATH_PARTS = 5
_METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
_BY_SERVERS = "HTTP_X_BACKEND_REPLICATION"


class NodeBandwidth:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: Mapping[str, str]) -> None:
        self._app = app
        rates_file = Path(conf["rates_file"])
        self._table = RateTable(rates_file, float(conf.get("burst_s", "0.5")))
        self._budget = CpuBudget(rates_file)
        self._requests = RequestCounters(requests_file(rates_file))
        if conf.get("limits_from"):
            name = conf.get("node_name", socket.gethostname())
            agent = NodeAgent(self._table, self._budget, self._requests, name)
            logger = get_logger(dict(conf), log_route="zoe-node-bandwidth")
            spawn_n(ControllerConnection(agent, name, conf, logger).run)

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Count requests of objects, and pace the bodies of each account."""
        execution = str(env.pop(environ_key(NODE_EXECUTION), ""))
        parts, method = env["PATH_INFO"].split("/", _OBJECT_PATH_PARTS), env["REQUEST_METHOD"]
        of_servers = config_true_value(env.get(_BY_SERVERS, ""))
        if len(parts) <= _OBJECT_PATH_PARTS or method not in _METHODS or of_servers:
            passed: Iterable[bytes] = self._app(env, start_response)
            return passed
        account, counter = text_of(parts[3]), request_name(method, text_of(parts[3]), text_of(parts[4]))
        name, request = name_in_table(account, execution), CountedRequest((self._requests, counter))
        computing = attach_computing(env, self._budget.spending_for(counter, account))
        if method == "PUT":
            env["wsgi.input"] = PacedInput(
                env["wsgi.input"],
                env.get("eventlet.input"),
                lambda length, its_turn: pace_piece(self._table, name, "put", length, its_turn),
                _RequestBytes(request),
            )
        statuses: list[str] = []

        def start_counted(status: str, *more: Any) -> Any:
            statuses.append(status)
            request.note_status(status)
            return start_response(status, *more)

        try:
            body = self._app(env, start_counted)
        except BaseException:
            request.end()
            computing.close()
            raise
        return self._paced_body(body, name, statuses, request, computing)

    def _paced_body(
        self, body: Iterable[bytes], name: str, statuses: list[str], request: CountedRequest, computing: Computing
    ) -> Iterator[bytes]:
        """Pace a body; only successful answers count."""
        whole = False
        try:
            for chunk in body:
                if not statuses or not statuses[-1].startswith("2"):
                    yield chunk
                    continue
                for start in range(0, len(chunk), PIECE_BYTES):
                    piece = chunk[start : start + PIECE_BYTES]
                    pace_piece(self._table, name, "get", len(piece))
                    request.count_piece("get", len(piece))
                    yield piece
            whole = True
        finally:
            request.end(whole)
            computing.close()
            close_if_possible(body)


class _RequestBytes:
    """Counts the bytes of a body for its request."""

    def __init__(self, request: CountedRequest) -> None:
        self.count_piece = request.count_piece

    def begin_wait(self) -> None:
        """Do nothing: the time that the server waits for the proxy is not counted."""


class NodeAgent:
    """The object server's side of the connection to the controller: applies limits, and reports."""

    def __init__(self, table: RateTable, budget: CpuBudget, requests: RequestCounters, name: str) -> None:
        self._table = table
        self._budget = budget
        self._requests = requests
        self._name = name
        self._moved = MovedBytes(table)
        self._at_s = time.monotonic()
        self._requests_told: dict[str, Any] = {}
        self._computed_told: dict[str, Any] = {}

    def take_any(self, message: Mapping[str, Any]) -> None:
        """Ignore modules: they run at proxies."""

    def take(self, message: Mapping[str, Any]) -> bool:
        """Apply the limits and bounds of a message."""
        take_rates(message, self._name, self._table)
        take_bounds(message, self._budget)
        return True

    def report(self, number: int, again: bool) -> Mapping[str, Any]:
        """Return the bytes, requests and CPU time since the last report."""
        now_s = time.monotonic()
        if again:
            self._requests_told.clear()
            self._computed_told.clear()
        accounts, now = self._moved.since(now_s)
        report = {"seconds": now_s - self._at_s, "accounts": accounts, "waiting": waiting(now)}
        if number % REPORTS_A_LIST == 0:
            report["requests"] = changed_counts(self._requests_told, self._requests.counts())
            report["computed"] = changed_counts(self._computed_told, self._budget.counts())
        self._at_s = now_s
        return report


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], NodeBandwidth]:
    """Return the filter, for paste. Its files belong to the server's user, even while root starts the server."""

    def build(app: Any) -> NodeBandwidth:
        with belonging_to(global_conf.get("user", "swift")):
            return NodeBandwidth(app, local_conf)

    return build
