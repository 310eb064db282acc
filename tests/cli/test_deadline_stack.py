"""Deadlines against the whole of Zoe: forecasts, missed deadlines, and their display."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.support.ending import cancel_all
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.stack import Stack

BATCH = Path(__file__).parents[2] / "app_descriptions" / "batch.json"


@pytest.fixture(autouse=True)
def nothing_left(stack: Stack) -> Iterator[None]:
    yield
    with Client(stack.url, stack.token) as client:
        cancel_all(client)


@pytest.fixture
def long(tmp_path: Path) -> str:
    """A description that runs for 4,000 s, as it declares."""
    document = {**json.loads(BATCH.read_text()), "name": "takes-4000-s", "size": {"run_time_s": 4000}}
    del document["time_limit_s"]
    document["components"][0]["command"] = ["sleep", "4000"]
    path = tmp_path / "long.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_unmeetable_deadline_is_reported_by_plan(zoe: Zoe, long: str, tmp_path: Path) -> None:
    planned = zoe("plan", long, "--deadline", "+30s")
    assert planned.code == 9
    assert "It would start now." in planned.out
    assert "cannot be met: earliest end p50 " in planned.out
    assert "by its declared run time of 4000 s" in planned.out
    said = planned.err.partition("deadline: ")[2].partition(" UTC")[0].rpartition("(")[2].strip()
    assert said
    assert f"{said} UTC" in planned.out, "the answer says the same second"
    assert zoe("plan", long, "--deadline", "+2d").code == 0
    answer = json.loads(zoe("plan", long, "--deadline", "+2h", "-o", "json").out)["deadline"]
    assert (answer["outlook"], answer["run_s"], answer["run_time_source"]) == ("at_risk", 4000, "declared")
    fresh = tmp_path / "fresh.json"
    fresh.write_text(json.dumps({**json.loads(BATCH.read_text()), "name": "never-ran"}))
    unknown = zoe("plan", str(fresh), "--deadline", "+30s")
    assert unknown.code == 0
    assert "can be met is not known: its run time is not known" in unknown.out
    document = {**json.loads(Path(long).read_text()), "deadline_s": 30}
    own = tmp_path / "own.json"
    own.write_text(json.dumps(document))
    valid = zoe("validate", str(own))
    assert valid.code == 0
    assert "cannot be met: earliest end " in valid.err
    assert zoe("plan", str(own)).code == 9
    del document["deadline_s"]
    own.write_text(json.dumps({**document, "deadline": "+30s"}))
    assert zoe("plan", str(own)).code == 9
    ran = zoe("run", str(own), "-o", "json")
    assert (ran.code, ran.err.count("cannot be met")) == (0, 1)


@pytest.mark.parametrize("text", ["2020-01-01 08:00", "soon", "08:00 Mars/Base", "+0s"])
def test_a_deadline_that_is_none_is_refused(zoe: Zoe, long: str, text: str) -> None:
    before = zoe("ls", "-o", "name").out
    refused = zoe("run", long, "--deadline", text)
    assert refused.code == 2
    assert zoe("ls", "-o", "name").out == before


def test_a_miss_is_noted_at_the_deadline_and_shown(zoe: Zoe, long: str) -> None:
    submitted = zoe("run", long, "--deadline", "+2s", "-o", "json")
    assert submitted.code == 0, "a deadline is a wish"
    assert submitted.err.count("cannot be met") == 1
    execution = json.loads(submitted.out)
    assert any("cannot be met" in text for text in execution["notes"])
    one, deadline_s = execution["id"], execution["deadline_s"]
    assert "in " in zoe("ls").out.splitlines()[1]
    until(lambda: time.time() > deadline_s)

    def missed() -> list[dict[str, object]]:
        told = json.loads(zoe("events", one, "-o", "json").out)["events"]
        return [event for event in told if event["kind"] == "deadline_missed"]

    until(missed, deadline_s=5.0)
    (event,) = missed()
    assert 0 <= event["at_s"] - deadline_s < 1.0, "within a tick"  # type: ignore[operator]
    assert event["data"]["miss"]["cause"] == "too_short"  # type: ignore[index]
    shown = zoe("show", one).out
    assert "missed: there was less time than the run takes" in shown
    assert "missed (too_short)" in zoe("ls").out
    assert zoe("ls", "--missed", "-o", "name").out.split() == [one]
    assert "missed: there was less time" in zoe("explain", one).out
    assert zoe("cancel", one).code == 0
    zoe("wait", one, "--timeout", "30")
    found = json.loads(zoe("history", "--missed", "-o", "json").out)["executions"]
    assert [(e["id"], e["deadline"], e["deadline_cause"]) for e in found if e["id"] == one] == [
        (one, "missed", "too_short")
    ]


def test_execution_in_time_has_met_its_deadline(zoe: Zoe) -> None:
    done = zoe("run", str(BATCH), "--deadline", "+1h", "--wait", "-o", "json")
    assert done.code == 0
    assert json.loads(done.out)["deadline"]["status"] == "met"
    assert "met" in zoe("ls").out
