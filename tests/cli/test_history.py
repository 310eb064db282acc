"""history over the real API."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.cli.server import ADMIN, OTHER, Server
from zoe_client import Client
from zoe_lib.store.values import UsageSample


def test_history_says_how_it_ended_and_what_it_used(server: Server, zoe: Zoe, app_file: Path) -> None:
    ended, still = (zoe("run", str(app_file), "--name", name, "-o", "name").out.strip() for name in ("over", "runs"))
    server.start(ended)
    began_s = server.get(ended).services[0].started_at_s
    assert began_s is not None
    samples = [
        UsageSample(ended, f"{ended}.{service}.1", "n1", began_s + at_s, cpu_s, memory)
        for service, at_s, cpu_s, memory in (
            ("main.0", 1.0, 2.0, 100 << 20),
            ("main.0", 2.0, 5.0, 512 << 20),
            ("worker.0", 2.0, 1.5, 128 << 20),
        )
    ]
    server.store.add_usage(samples)
    server.end(ended, 3)
    (one,) = zoe("history", "--name", "over", "-o", "json").json()["executions"]
    assert (one["id"], one["state"], one["exit_code"]) == (ended, "failed", 3)
    assert one["cpu_s"] == 6.5
    assert (one["memory_peak_bytes"], one["memory_efficiency"]) == (512 << 20, 0.5)
    services = server.get(ended).services
    reserved = sum(s.ended_at_s - s.started_at_s for s in services if s.ended_at_s and s.started_at_s)
    assert one["reserved_core_s"] == pytest.approx(reserved)  # a core each
    assert one["cpu_efficiency"] == pytest.approx(6.5 / reserved)
    assert "cause: exited" in zoe("history", "--name", "over", "-o", "yaml").out
    table = zoe("history", "--since", "1h").out
    assert "over" in table
    assert still not in table
    assert "50%" in table
    assert zoe("history", "-o", "name", token=OTHER).out == ""
    assert zoe("history", "--state", "succeeded", "--name", "over", "-o", "name").out == ""


def test_the_use_of_others_is_not_told(server: Server, zoe: Zoe, app_file: Path) -> None:
    mine = zoe("run", str(app_file), "-o", "name").out.strip()
    with Client(server.url, OTHER) as other:
        assert other.use_of([mine, "x0"]).use == []


def test_events_are_followed_until_the_end(server: Server, zoe: Zoe, app_file: Path) -> None:
    execution_id = zoe("run", str(app_file), "-o", "name").out.strip()
    ending = threading.Timer(0.5, lambda: (server.start(execution_id), server.end(execution_id)))
    ending.start()
    lines = zoe("events", execution_id, "-f", "-o", "json").out.splitlines()
    ending.join()
    events = [json.loads(line) for line in lines]
    assert (events[0]["kind"], events[-1]["kind"]) == ("submitted", "ended")
    assert len({event["id"] for event in events}) == len(events)
    rest = zoe("events", execution_id, "--follow", "--after", str(events[3]["id"]), "-o", "name").out.split()
    assert rest == [str(event["id"]) for event in events[4:]]
    assert zoe("events", execution_id, "-f").out.splitlines()[-1].endswith("ended")


def test_events_of_all_are_followed_without_an_end(server: Server, zoe: Zoe, app_file: Path) -> None:
    with Client(server.url, ADMIN) as client:
        told = client.follow_events(after=server.store.last_journal_id())
        first = zoe("run", str(app_file), "-o", "name").out.strip()
        second = zoe("run", str(app_file), "-o", "name").out.strip()
        assert [next(told).execution_id, next(told).execution_id] == [first, second]


def test_events_need_an_execution_or_follow(zoe: Zoe) -> None:
    assert zoe("events").code == 2
