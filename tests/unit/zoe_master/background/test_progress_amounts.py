"""Progress reports of programs, valid or invalid; no answer does harm."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from zoe_lib.domain.values.progress import NoProgress, ProgressProbe
from zoe_master.backends.base import PROGRESS_BYTES_MAX, PortAddress
from zoe_master.background.probe_answers import NoReading, ProbeAnswers
from zoe_master.background.progress_amounts import ProgressAmounts, parse_progress, tasks_of

Answer = Callable[[BaseHTTPRequestHandler], None]
PORT = ProgressProbe(port="http", path="/progress")
SPARK = ProgressProbe(spark="ui")


@pytest.mark.parametrize(
    ("content", "share"),
    [
        (b"0.42", 0.42), (b"0\n", 0.0), (b"1", 1.0), (b"42 100", 0.42), (b"0.1\n0.2\n0.3\n", 0.3),
        (b'{"progress": 0.42}', 0.42), (b'{"progress": 0.5, "stage": "fit"}', 0.5), (b" 1e-1 ", 0.1),
    ],
)  # fmt: skip
def test_shares_and_amounts_are_understood(content: bytes, share: float) -> None:
    reading = parse_progress(content, 7.0)
    assert reading is not None
    assert (reading.at_s, reading.share) == (7.0, pytest.approx(share))


def test_empty_progress_is_no_error() -> None:
    assert parse_progress(b"", 0) is None
    assert parse_progress(b" \n\n", 0) is None
    assert tasks_of([], 0) is None


@pytest.mark.parametrize(
    "content",
    [
        b"half", b"nan", b"-0.1", b"1.01", b"inf", b"42%", b"1 2 3", b"101 100", b"3 0", b"\xff\xfe", b"0.5 x",
        b"{", b"{}", b'{"progress": null}', b'{"progress": true}', b'{"progress": "0.5"}', b'{"progress": NaN}',
        b'{"progress": 1e999}', b'{"progress": ' + b"9" * 4000 + b"}", b'{"progress": [0.5]}', b'{"a": ' * 5000,
        b"\x00" * 100, b"9" * 100_000,
    ],
)  # fmt: skip
def test_invalid_progress_is_refused_without_its_text(content: bytes) -> None:
    with pytest.raises(NoProgress) as refused:
        parse_progress(content, 0)
    assert len(str(refused.value)) < 100
    assert content.decode(errors="replace")[:40] not in str(refused.value) or content == b"{"


def job(status: str, tasks: int, completed: int, skipped: int = 0) -> dict[str, Any]:
    return {"status": status, "numTasks": tasks, "numCompletedTasks": completed, "numSkippedTasks": skipped}


def test_tasks_of_jobs_are_counted_as_spark_knows_them() -> None:
    jobs = [job("RUNNING", 300, 30, 100), job("SUCCEEDED", 40, 20, 20), job("FAILED", 1000, 50)]
    reading = tasks_of(jobs, 0)
    assert reading is not None
    assert (reading.done, reading.total) == (100, 270)
    again = tasks_of([job("RUNNING", 10, 15)], 0)  # a stage that was run again
    assert again is not None
    assert again.share == 1.0


@pytest.mark.parametrize(
    "jobs",
    [
        {}, "jobs", [1], [{}], [job("RUNNING", -1, 0)], [job("RUNNING", 1 << 50, 0)],
        [{**job("RUNNING", 9, 1), "numTasks": 1.5}],
    ],
)  # fmt: skip
def test_jobs_that_are_none_are_refused(jobs: object) -> None:
    with pytest.raises(NoProgress):
        tasks_of(jobs, 0)


@pytest.fixture
def amounts() -> Iterator[Callable[[Answer], ProgressAmounts]]:
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def make(answer: Answer) -> ProgressAmounts:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        where = PortAddress("127.0.0.1", server.server_address[1])
        return ProgressAmounts(lambda *_: where, _no_file, ProbeAnswers(timeout_s=0.5))

    yield make
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def _no_file(*_: str) -> bytes:
    raise AssertionError


def says(answers: dict[str, bytes]) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        content = answers.get(request.path)
        request.send_response(404 if content is None else 200)
        request.end_headers()
        request.wfile.write(content or b"")

    return answer


def test_a_port_and_a_driver_are_asked(amounts: Callable[[Answer], ProgressAmounts]) -> None:
    reading = amounts(says({"/progress": b'{"progress": 0.25}'})).read(PORT, "s", 1.0)
    assert reading is not None
    assert reading.share == 0.25
    jobs = json.dumps([{**job("RUNNING", 10, 5), "name": "x" * 400} for _ in range(1000)]).encode()
    assert len(jobs) > 400_000
    driver = {
        "/api/v1/applications": b'[{"id": "app-20261125-0001"}]',
        "/api/v1/applications/app-20261125-0001/jobs": jobs,
    }
    tasks = amounts(says(driver)).read(SPARK, "s", 1.0)
    assert tasks is not None
    assert (tasks.done, tasks.total) == (5000, 10000)


@pytest.mark.parametrize(
    "applications", [b"[]", b"{}", b'[{"id": "../../x"}]', b'[{"id": 7}]', b'[{"id": "a/b"}]', b"x"]
)
def test_a_port_that_is_no_driver_is_told(amounts: Callable[[Answer], ProgressAmounts], applications: bytes) -> None:
    with pytest.raises(NoProgress):
        amounts(says({"/api/v1/applications": applications})).read(SPARK, "s", 1.0)


def elsewhere(request: BaseHTTPRequestHandler) -> None:
    request.send_response(302)
    request.send_header("location", f"http://127.0.0.1:{request.server.server_address[1]}/other")  # type: ignore[index]
    request.end_headers()
    assert request.path != "/other", "a redirect was followed"


def endless(request: BaseHTTPRequestHandler) -> None:
    try:
        request.send_response(200)
        request.end_headers()
        while True:
            request.wfile.write(b"1" * 65536)
    except OSError:
        return


def hangs(request: BaseHTTPRequestHandler) -> None:
    time.sleep(1.5)
    request.close_connection = True


@pytest.mark.parametrize("answer", [elsewhere, endless, hangs])
def test_answers_that_lead_elsewhere_never_end_or_never_come_are_left(
    amounts: Callable[[Answer], ProgressAmounts], answer: Answer
) -> None:
    began_s = time.monotonic()
    with pytest.raises(NoReading):
        amounts(answer).read(PORT, "s", 1.0)
    assert time.monotonic() - began_s < 5


def test_only_the_end_of_a_file_is_looked_at() -> None:
    reading = parse_progress(b"9" * 10 * PROGRESS_BYTES_MAX + b"\n0.5\n", 0)
    assert reading is not None
    assert reading.share == 0.5
