"""Inputs of scaling: samples of use, and answers of untrusted servers."""

from __future__ import annotations

import gzip
import json
import resource
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from zoe_lib.domain.executions.execution import Service
from zoe_lib.domain.values.scaling import ScalingRule
from zoe_master.backends.base import PortAddress, Usage
from zoe_master.background.probe_answers import NoReading
from zoe_master.background.readings import ScalingAmounts, ScalingCores

SERVICE = Service("x-main-0-1", "main", 0, core=True)
RULE = ScalingRule(1, 5, port="http", path="/backlog")
QUERY = ScalingRule(1, 5, query="sum(jobs)")
SPARK = ScalingRule(1, 5, spark="ui")


def test_the_share_of_cores_is_the_average_since_the_last_look() -> None:
    cores = ScalingCores()
    with pytest.raises(NoReading):
        cores.share([SERVICE], 500)
    for at_s, cpu_s in ((0.0, 0.0), (10.0, 4.0)):
        cores.note([Usage(SERVICE.id, "x", "n", cpu_s, 0, at_s=at_s)])
        if not at_s:
            with pytest.raises(NoReading):
                cores.share([SERVICE], 500)
    assert cores.share([SERVICE], 500) == pytest.approx(0.8)
    with pytest.raises(NoReading):  # no newer sample
        cores.share([SERVICE], 500)
    cores.note([Usage(SERVICE.id, "x", "n", 1.0, 0, 20.0)])
    with pytest.raises(NoReading):  # it was restarted
        cores.share([SERVICE], 500)


class _Server:
    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def amounts() -> Iterator[Callable[[Callable[[BaseHTTPRequestHandler], None]], ScalingAmounts]]:
    servers: list[_Server] = []

    def make(answer: Callable[[BaseHTTPRequestHandler], None]) -> ScalingAmounts:
        servers.append(_Server(answer))
        port = servers[-1].port
        return ScalingAmounts(f"http://127.0.0.1:{port}", lambda *_: PortAddress("127.0.0.1", port), timeout_s=0.5)

    yield make
    for server in servers:
        server.close()


def body(text: str, status: int = 200, location: str = "") -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        if location:
            request.send_header("location", location)
        request.end_headers()
        request.wfile.write(text.encode())

    return answer


def bomb(request: BaseHTTPRequestHandler) -> None:
    """Return some kilobytes that become 256 MiB when decompressed twice."""
    request.send_response(200)
    request.send_header("content-encoding", "gzip, gzip")
    request.end_headers()
    request.wfile.write(_packed())


@cache
def _packed() -> bytes:
    inner = zlib.compressobj(1, wbits=31)
    piece = bytes(2**20)
    once = b"".join([*(inner.compress(piece) for _ in range(256)), inner.flush()])
    return gzip.compress(once)


def trickle(request: BaseHTTPRequestHandler) -> None:
    try:
        for _ in range(100):
            request.wfile.write(b"H")
            request.wfile.flush()
            time.sleep(0.05)
    except OSError:
        return


Make = Callable[[Callable[[BaseHTTPRequestHandler], None]], ScalingAmounts]


@pytest.mark.parametrize(("text", "amount"), [("7", 7.0), (" 1.5\n", 1.5), ('{"backlog": 12}', 12.0), ("0", 0.0)])
def test_an_instance_tells_a_number(amounts: Make, text: str, amount: float) -> None:
    assert amounts(body(text)).instance_amount(RULE, [SERVICE]) == amount


@pytest.mark.parametrize(
    "answer",
    [
        body("many"), body("-1"), body("NaN"), body("1e999"), body("true"), body('{"a": 1, "b": 2}'), body("[1]"),
        body("7", 500), body("", 302, "http://127.0.0.1:1/"), body("1" * 100_000), trickle, bomb,
        body("[" * 60_000), body("1" * 400),
    ],
)  # fmt: skip
def test_other_answers_change_nothing(amounts: Make, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
    _packed()
    asked, before_kib = amounts(answer), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began_s = time.monotonic()
    with pytest.raises(NoReading):
        asked.instance_amount(RULE, [SERVICE])
    assert time.monotonic() - began_s < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 100 << 10


def test_prometheus_gives_one_series_and_several_are_an_error(amounts: Make) -> None:
    vector = '{"data": {"resultType": "vector", "result": [{"value": [1, "7.5"]}]}}'
    assert amounts(body(vector)).prometheus_amount(QUERY) == 7.5
    vector = '{"data": {"resultType": "vector", "result": [{"value": [1, "3"]}, {"value": [1, "4.5"]}]}}'
    with pytest.raises(NoReading, match=r"gives 2 series; make it give one, for example by sum"):
        amounts(body(vector)).prometheus_amount(QUERY)
    assert amounts(body('{"data": {"resultType": "scalar", "result": [1, "2"]}}')).prometheus_amount(QUERY) == 2.0
    for text in ('{"data": {"resultType": "vector", "result": []}}', "{}", "[]", '{"data": null}'):
        with pytest.raises(NoReading):
            amounts(body(text)).prometheus_amount(QUERY)
    with pytest.raises(NoReading, match="set prometheus_url"):
        ScalingAmounts(None, lambda *_: PortAddress("127.0.0.1", 1)).prometheus_amount(QUERY)


def gauges(**values: float) -> str:
    named = {f"app-1.driver.ExecutorAllocationManager.executors.{name}": {"value": n} for name, n in values.items()}
    return json.dumps({"version": "4.0.0", "gauges": {"app-1.driver.jvm.heap.used": {"value": 9}, **named}})


def test_spark_driver_wants_executors(amounts: Make) -> None:
    both = gauges(numberTargetExecutors=3, numberMaxNeededExecutors=40, numberAllExecutors=7)
    assert amounts(body(both)).spark_amount(SPARK, SERVICE) == 40.0
    between_stages = gauges(numberTargetExecutors=0, numberMaxNeededExecutors=8)
    assert amounts(body(between_stages)).spark_amount(SPARK, SERVICE) == 8.0
    assert amounts(body(gauges(numberTargetExecutors=0))).spark_amount(SPARK, SERVICE) == 0.0


def test_spark_driver_without_dynamic_allocation_is_told_what_to_set(amounts: Make) -> None:
    with pytest.raises(NoReading, match=r"set spark\.dynamicAllocation\.enabled=true"):
        amounts(body(gauges())).spark_amount(SPARK, SERVICE)
    with pytest.raises(NoReading, match="not ready"):
        amounts(body(gauges())).spark_amount(SPARK, None)
    for text in ("[]", "{}", "<html>", '{"gauges": 3}', '{"gauges": {"a": 1}}', gauges(numberTargetExecutors=-1)):
        with pytest.raises(NoReading):
            amounts(body(text)).spark_amount(SPARK, SERVICE)
