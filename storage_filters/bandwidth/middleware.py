"""A filter of the proxy: bytes per second of each account, for GET and for PUT, shared by all workers of this proxy.

An execution with a credential (`execution_auth/`) is limited and counted apart from the rest of its account. The bytes
that each such credential moved are kept for good (`counting/transfer_counters.py`): bodies that its successful requests
received, and bodies that it sent, without headers. All requests are counted by method, account and container, and by
signer (`counting/request_counters.py`). The compressibility of stored bodies is sampled (`content_samples.py`).

    [pipeline:main]
    pipeline = ... s3api <authentication> zoe_bandwidth zoe_views ... slo dlo ... proxy-logging proxy-server
    [filter:zoe_bandwidth]
    paste.filter_factory = storage_filters.bandwidth:filter_factory
    rates_file = /run/swift/zoe-rates
    proxy_name = proxy1
    limits_from = tcp://controller:5561
    usage_to = tcp://controller:5562
    key_file = /etc/swift/zoe.key

Put it after authentication, where S3 requests also have the account in their path, and before every filter that makes
subrequests: each byte to or from a client is counted once.

If several controllers share one database, `limits_from` and `usage_to` list all, separated by commas.

The storage controller pushes limits and receives the moved bytes each second, so no request waits for a network call.
`key_file` has three lines, in Z85: the controller's public key, this proxy's public key and its secret one.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eventlet import spawn_n
from swift.common.swob import wsgi_to_str
from swift.common.utils import close_if_possible, config_true_value, get_logger

from storage_filters.bandwidth.content_samples import ContentSamples
from storage_filters.bandwidth.controller_connection import ControllerConnection
from storage_filters.bandwidth.limits import LimitsAgent
from storage_filters.counting.computing import Computing
from storage_filters.counting.cpu_budget import CpuBudget, Took
from storage_filters.counting.pacing import PIECE_BYTES, PacedInput, pace_piece
from storage_filters.counting.rate_table import Direction, RateTable, belonging_to, name_in_table
from storage_filters.counting.request_computing import attach_computing, note_execution
from storage_filters.counting.request_counters import (
    GONE,
    Also,
    CountedRequest,
    Counter,
    RequestCounters,
    request_name,
    requests_file,
    signers_file,
)
from storage_filters.counting.transfer_counters import StoreWait, TransferCounters, counters_file, name_of
from storage_filters.counting.use_counters import UseCounters, uses_file
from storage_filters.execution_auth.callers import caller_of, credential_of, execution_of, signer_of
from storage_filters.execution_auth.names import ExecutionUser
from storage_filters.s3_signed.signatures import CHECKED
from storage_filters.wsgi.whole_bodies import broke_off

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

_ACCOUNT_PATH_PARTS = 3
_VERSIONS = ("v1", "v1.0")
_NOT_ALLOWED = ("401", "403")
_MANIFEST = "multipart-manifest"


class Bandwidth:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str]) -> None:
        self._app = app
        self._logger = get_logger(conf, log_route="zoe-bandwidth")
        self._misplaced = False
        self._unchecked = False
        self._prefix = conf.get("account_prefix", "AUTH_")
        rates_file = Path(conf["rates_file"])
        self._table = RateTable(rates_file, float(conf.get("burst_s", "0.5")))
        self._clients = RateTable(rates_file.with_suffix(".clients"))
        self._counters = TransferCounters(counters_file(rates_file))
        self._requests = RequestCounters(requests_file(rates_file))
        self._signers = RequestCounters(signers_file(rates_file))
        self._uses = UseCounters(uses_file(rates_file))
        self._budget = CpuBudget(rates_file)
        self._samples = ContentSamples(rates_file)
        if config_true_value(conf.get("connected", "limits_from" in conf)):
            counted = self._counters, self._requests, self._signers, self._uses, self._budget, self._samples
            name = conf.get("proxy_name", socket.gethostname())
            agent = LimitsAgent(self._table, self._clients, *counted, conf["rates_file"], name)
            spawn_n(ControllerConnection(agent, name, conf, self._logger).run)

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pace the reads and writes of an account."""
        parts = env["PATH_INFO"].split("/", _ACCOUNT_PATH_PARTS)
        if len(parts) < _ACCOUNT_PATH_PARTS or parts[1] not in _VERSIONS or not parts[2]:
            return self._pass_unpaced(env, start_response)
        self._see_signature(env)
        execution = execution_of(env)
        note_execution(env, execution)
        account, client = name_in_table(parts[2], execution), str(env.get("REMOTE_ADDR", ""))
        user = credential_of(env)
        waited: list[bool] = []
        name = _counter_of(env["REQUEST_METHOD"], parts[2:])
        container = "" if user is None else self._seen_container(user, parts[2:])
        took = None if user is None else self._took_by(user, env["REQUEST_METHOD"], container)
        computing = attach_computing(env, self._budget.spending_for(name, parts[2], took))
        also = None if user is None else self._by_execution(user, env["REQUEST_METHOD"], container, waited)
        request = CountedRequest((self._requests, name), self._of_signer(env, parts[2]), also=also)
        counted = StoreWait(self._counters, name_of(user) if user is not None else "", request)
        sample = self._samples.begin(name) if _has_contents(env, parts) else None
        if env["REQUEST_METHOD"] in ("PUT", "POST"):
            env["wsgi.input"] = PacedInput(
                env["wsgi.input"],
                env.get("eventlet.input"),
                lambda *piece: self._wait(account, client, waited, "put", *piece),
                counted,
                see=sample.see if sample is not None else lambda _: None,
            )
        statuses: list[str] = []

        def start_counted(status: str, *more: Any) -> Any:
            statuses.append(status)
            if status.startswith(_NOT_ALLOWED) and parts[2] != (caller := caller_of(env, self._prefix)):
                own = (self._requests, _counter_of(env["REQUEST_METHOD"], [caller])), self._of_signer(env, caller)
                request.count_by(*(own if caller else ()))
            request.note_status(GONE if broke_off(env) else status)
            if sample is not None and status.startswith("2"):
                computing.run(sample.count)
            return start_response(status, *more)

        try:
            body = self._app(env, start_counted)
        except BaseException:
            request.end()
            computing.close()
            raise
        told = _RequestEnd(env["REQUEST_METHOD"], statuses, counted, request, computing)
        return _PacedBody(body, lambda length: self._wait(account, client, waited, "get", length), told)

    def _pass_unpaced(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass on a request that names no account, such as a health check."""
        passed: Iterable[bytes] = self._app(env, start_response)
        if not self._misplaced and "s3api.backend_path" in env:
            self._misplaced = True
            self._logger.error(
                "S3 requests are not limited: put zoe_bandwidth after s3api and authentication in the pipeline"
            )
        return passed

    def _see_signature(self, env: Environ) -> None:
        if not self._unchecked and env.get("swift.source") == "S3" and CHECKED not in env:
            self._unchecked = True
            self._logger.error(
                "S3 requests can carry unsigned instructions: put zoe_s3_signed before s3api in the pipeline"
            )

    def _of_signer(self, env: Environ, account: str) -> Counter:
        """Return the counter for the signer of a request to an account (a WSGI string)."""
        signer = wsgi_to_str(signer_of(env)).replace("/", "%2F")
        return self._signers, request_name(env["REQUEST_METHOD"], wsgi_to_str(account), signer)

    def _seen_container(self, user: ExecutionUser, parts: Sequence[str]) -> str:
        """Return the container that the execution's history shows for a request; a container of another account is
        hidden from it. parts: account, and the rest of the path.
        """
        account, container = (*parts, "")[:2]
        return _container_of([container]) if wsgi_to_str(account) == self._prefix + user.tenant else ""

    def _by_execution(self, user: ExecutionUser, method: str, container: str, waited: list[bool]) -> Also:
        """Return a function that counts a request for its execution. waited: not empty if a limit delayed it."""
        return lambda served, moved: self._uses.request(user, method, container, served, moved, bool(waited))

    def _took_by(self, user: ExecutionUser, method: str, container: str) -> Took:
        return lambda cpu_us: self._uses.add_cpu_time(user, method, container, cpu_us)

    def _wait(
        self,
        account: str,
        client: str,
        waited: list[bool],
        direction: Direction,
        length: int,
        its_turn: bool = True,
    ) -> bool:
        """Count a piece and wait for its turn, like `pace_piece`. Bytes by client address are counted only."""
        self._clients.turn(client, direction, length, time.monotonic())

        def note_wait() -> None:
            if not waited:
                waited.append(True)

        return pace_piece(self._table, account, direction, length, its_turn, note_wait)


@dataclass
class _RequestEnd:
    """Counts a request at its end, once. statuses: of the answer; the last one counts."""

    method: str
    statuses: Sequence[str]
    counted: StoreWait
    request: CountedRequest
    computing: Computing
    _ended: bool = False

    @property
    def is_success(self) -> bool:
        """Return whether the answer is successful."""
        return bool(self.statuses) and self.statuses[-1].startswith("2")

    def end(self, whole: bool) -> None:
        """Count the request. whole: the answer was sent completely."""
        if not self._ended:
            self._ended = True
            if whole and self.is_success:
                self.counted.count_piece("get", 0)  # the store may have taken long to end, as after a PUT
            self.request.end(whole)
            self.computing.close()


class _PacedBody:
    """The body of an answer, sent at the pace of its account. Only successful requests count, so that invented names
    get no place in the table. wait: waits for the turn of a piece of the given length.

    The request is counted when its body is read, closed or dropped: requests that Swift's filters make, as for S3's
    HEAD, are neither read nor always closed.
    """

    def __init__(self, body: Iterable[bytes], wait: Callable[[int], object], told: _RequestEnd) -> None:
        self._body = body
        self._told = told
        self._pieces = _paced_pieces(body, wait, told)
        self._begun = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        self._begun = True
        try:
            return next(self._pieces)
        except StopIteration:
            self._told.end(whole=True)
            raise
        except BaseException:
            self._told.end(whole=False)
            raise

    def close(self) -> None:
        """Count the request, unless it is counted already, and close the body below."""
        self._end_unread()
        self._pieces.close()
        close_if_possible(self._body)

    def __del__(self) -> None:
        self._end_unread()

    def _end_unread(self) -> None:
        """Count a request whose body was not read to its end; only a GET needs its body."""
        self._told.end(whole=not self._begun and not (self._told.method == "GET" and self._told.is_success))


def _paced_pieces(body: Iterable[bytes], wait: Callable[[int], object], told: _RequestEnd) -> Generator[bytes]:
    """Yield a body in pieces. A function, not a method: a generator that refers to its owner would keep it alive."""
    for chunk in body:
        if not told.is_success:
            yield chunk
            continue
        for start in range(0, len(chunk), PIECE_BYTES):
            piece = chunk[start : start + PIECE_BYTES]
            wait(len(piece))
            told.counted.count_piece("get", len(piece))
            yield piece
            told.counted.begin_wait()


def _container_of(parts: Sequence[str]) -> str:
    """Return the container of the path behind an account (WSGI strings)."""
    return str(wsgi_to_str("".join(parts[:1]).partition("/")[0]))


def _has_contents(env: Environ, parts: Sequence[str]) -> bool:
    """Return whether a request stores the bytes of an object. parts: of the path."""
    is_of_object = "/" in "".join(parts[_ACCOUNT_PATH_PARTS:])
    return env["REQUEST_METHOD"] == "PUT" and is_of_object and _MANIFEST not in env.get("QUERY_STRING", "")


def _counter_of(method: str, parts: Sequence[str]) -> str:
    """Return the name of a request's counter. parts: account, and the rest of the path, as WSGI strings."""
    account, container = (*parts, "")[:2]
    return request_name(method, wsgi_to_str(account), wsgi_to_str(container.partition("/")[0]))


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], Bandwidth]:
    """Return the filter, for paste. Its files belong to the server's user, even while root starts the server."""

    def build(app: Any) -> Bandwidth:
        with belonging_to(global_conf.get("user", "swift")):
            return Bandwidth(app, local_conf)

    return build
