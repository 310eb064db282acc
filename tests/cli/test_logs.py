"""logs over the real API, and what of a log reaches a terminal."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Result, Zoe
from tests.cli.server import Server
from zoe_cli.commands.watching.output_of import choose
from zoe_cli.text import LogText
from zoe_client.wire import ExecutionView, ServiceView
from zoe_lib.store.values import ExecutionQuery


def test_the_ending_service_is_the_default(server: Server, zoe: Zoe, submitted: str) -> None:
    server.master.output = {f"{submitted}.main.0.1": b"done\n", f"{submitted}.worker.1.1": b"helping\n"}
    server.start(submitted)
    assert zoe("logs", submitted).out == "done\n"
    for name in ("worker-1", f"{submitted}.worker.1.1"):
        assert zoe("logs", submitted, name).out == "helping\n"


def test_a_queued_execution_has_no_output_yet(server: Server, zoe: Zoe, submitted: str) -> None:
    done = zoe("logs", submitted)
    assert (done.code, done.out) == (0, "")
    assert "so there is no output yet" in done.err


def test_all_of_a_long_log_and_its_last_lines(server: Server, zoe: Zoe, submitted: str) -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    server.master.output = {f"{submitted}.main.0.1": text.encode()}
    server.start(submitted)
    server.end(submitted)
    assert zoe("logs", submitted).out == text
    assert zoe("logs", "-f", submitted).out == text
    assert zoe("logs", submitted, "--tail", "2").out == "line 19998\nline 19999\n"
    assert zoe("logs", submitted, "--tail", "0").out == ""
    assert zoe("logs", submitted, "-f", "--tail", "1").out == "line 19999\n"


def test_with_a_format_standard_output_is_one_document(server: Server, zoe: Zoe, submitted: str) -> None:
    service = f"{submitted}.main.0.1"
    server.master.output = {service: b"caf\xc3\xa9\nand \xff\n"}
    server.start(submitted)
    server.end(submitted)
    whole = {"service": service, "output": "café\nand \ufffd\n"}
    for arguments in (
        ("logs", submitted, "-o", "json"),
        ("-o", "json", "logs", submitted),
        ("logs", "-f", submitted, "-o", "json"),
    ):
        assert json.loads(zoe(*arguments).out) == whole
    assert json.loads(zoe("logs", submitted, "-n", "1", "-o", "json").out)["output"] == "and \ufffd\n"
    assert yaml.safe_load(zoe("logs", submitted, "-o", "yaml").out) == whole
    assert zoe("logs", submitted, "-o", "name").out == f"{service}\n"


@pytest.fixture
def asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once a client reads output."""
    logs, reading = server.master._logs, threading.Event()

    def told(body: dict[str, Any]) -> dict[str, Any]:
        reading.set()
        return logs(body)

    monkeypatch.setattr(server.master, "_logs", told)
    return reading


def follow_over_attempts(server: Server, zoe: Zoe, asked: threading.Event, *arguments: str) -> Result:
    """Return the result of `zoe` while its execution fails once and succeeds at its second attempt."""

    def tried_twice() -> None:
        asked.wait(60)
        execution_id = server.store.executions(ExecutionQuery(limit=1)).executions[0].id
        server.requeue(execution_id)
        server.start(execution_id)
        server.end(execution_id)

    beside = threading.Thread(target=tried_twice)
    beside.start()
    try:
        return zoe(*arguments)
    finally:
        asked.set()
        beside.join()


def test_following_goes_on_with_the_next_attempt(
    server: Server, zoe: Zoe, submitted: str, asked: threading.Event
) -> None:
    server.master.output = {f"{submitted}.main.0.{number}": b"attempt %d\n" % number for number in (1, 2)}
    server.start(submitted)
    done = follow_over_attempts(server, zoe, asked, "logs", "-f", submitted)
    assert done.out == "attempt 1\nattempt 2\n"
    assert done.err == "note: main-0 is being retried; the output of attempt 2 follows\n"


def test_the_document_of_what_is_followed_holds_all_attempts(
    server: Server, zoe: Zoe, submitted: str, asked: threading.Event
) -> None:
    server.master.output = {f"{submitted}.main.0.{number}": b"attempt %d\n" % number for number in (1, 2)}
    server.start(submitted)
    done = follow_over_attempts(server, zoe, asked, "logs", "-f", submitted, "-o", "json")
    assert json.loads(done.out) == {"service": f"{submitted}.main.0.1", "output": "attempt 1\nattempt 2\n"}


def test_a_run_that_is_followed_goes_on_with_the_next_attempt(
    server: Server, zoe: Zoe, app_file: Path, asked: threading.Event
) -> None:
    class Attempts(dict[str, bytes]):
        """The number of each attempt, for any execution."""

        def __contains__(self, service_id: object) -> bool:
            return True

        def __getitem__(self, service_id: str) -> bytes:
            return b"attempt %s\n" % service_id.rpartition(".")[2].encode()

    server.master.output = Attempts()
    done = follow_over_attempts(server, zoe, asked, "run", "-f", str(app_file))
    assert (done.code, done.out) == (0, "attempt 1\nattempt 2\n")
    assert "note: main-0 is being retried; the output of attempt 2 follows\n" in done.err


def test_following_ends_with_the_execution(server: Server, zoe: Zoe, submitted: str) -> None:
    server.master.output = {}
    assert zoe("cancel", submitted).code == 0
    assert zoe("logs", "-f", submitted).code == 0


def test_no_such_service_or_output(server: Server, zoe: Zoe, submitted: str) -> None:
    server.master.output = {}
    done = zoe("logs", submitted, "nobody")
    assert done.code == 3
    assert "it has main-0, worker-0, worker-1" in done.err
    assert zoe("logs", submitted).code == 0
    zoe("cancel", submitted)
    never = zoe("logs", submitted)
    assert never.code == 3
    assert "main-0 never started, so there is no output: cancelled by ada" in never.err
    assert zoe("logs", "gone").code == 3


def test_the_newest_try_that_began_is_shown_and_the_newest_of_all_is_followed() -> None:
    """As when an elastic service failed twice, and the application ended before its third try."""
    began = [tried(1, started_at_s=10.0, ended_at_s=11.0), tried(2, started_at_s=20.0, ended_at_s=21.0)]
    execution = ExecutionView.model_construct(id="x", services=[*began, tried(3, ended_at_s=30.0)])
    assert choose(execution, "help-0").attempt == 2
    assert choose(execution, "help-0", following=True).attempt == 3


def tried(attempt: int, **times: float) -> ServiceView:
    moments = {"started_at_s": None, "ended_at_s": None, **times}
    name = {"id": f"x.help.0.{attempt}", "name": "help-0", "component": "help", "index": 0}
    return ServiceView.model_construct(**name, **moments, attempt=attempt, message="")


@pytest.mark.parametrize("cut", range(1, 20))
def test_colours_stay_and_all_else_is_shown(cut: int) -> None:
    data = b"\x1b[31mr\xc3\xa9d\x1b[0m \x1b]0;title\x07\x1b[2J\r\n\tok\xff"
    text = LogText()
    shown = text.feed(data[:cut]) + text.feed(data[cut:]) + text.close()
    assert shown == "\x1b[31mréd\x1b[0m \\x1b]0;title\\x07\\x1b[2J\r\n\tok\ufffd\x1b[0m"


def test_an_unfinished_sequence_is_shown_in_the_end() -> None:
    text = LogText()
    assert text.feed(b"end\x1b[3") + text.close() == "end\\x1b[3"


def test_log_of_a_cancelled_start_is_shown(server: Server, zoe: Zoe, submitted: str) -> None:
    zoe("cancel", submitted)
    server.master.output = {f"{submitted}.main.0.1": b"ERROR: No matching distribution found\n"}
    done = zoe("logs", submitted)
    assert (done.code, done.out) == (0, "ERROR: No matching distribution found\n")
    assert "No matching" in zoe("logs", submitted, "-o", "json").json()["output"]
