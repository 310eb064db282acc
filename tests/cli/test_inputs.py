"""Ways to read inputs in zoe show and zoe explain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import APP, Zoe
from tests.cli.server import Server
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.values.storage import InputRead

SOURCE = "swift2d://meters.zoe/2015"


@pytest.fixture
def reader(zoe: Zoe, tmp_path: Path) -> str:
    """A submitted execution with two inputs, of which one has a pushdown."""
    file = tmp_path / "reader.json"
    pushdown = {"columns": ["id", "kwh"], "where": "kwh > 3"}
    inputs = [{"name": "meters", "uri": SOURCE, "pushdown": pushdown}, {"name": "cities", "uri": "swift2d://c.zoe/a"}]
    file.write_text(json.dumps({**APP, "storage": {"inputs": inputs}}))
    done = zoe("run", str(file), "-o", "name")
    assert done.code == 0, done.err
    return done.out.strip()


@pytest.mark.parametrize(
    "read",
    [
        InputRead(
            "meters", "swift2d://zoe-view-1.zoe/data", "1", ("id", "kwh"), "through a view: 0.1 of 8 MB are wanted"
        ),
        InputRead("meters", SOURCE, why="plainly: a view would not save time"),
    ],
)
def test_whether_a_view_is_used_and_why_is_told(server: Server, zoe: Zoe, reader: str, read: InputRead) -> None:
    server.append(reader, ev.Queued(at_s=1.0), ev.StartPlanned(at_s=1.0, placements=server.placements(reader)))
    server.append(reader, ev.InputsDecided(at_s=1.0, inputs=(read,)))
    assert f"{read.uri} ({read.why})" in zoe("show", reader).out
    said = zoe("explain", reader).out
    assert said.startswith("It does not wait: it is starting.\n")
    assert f"Input meters: {read.why}.\n" in said
    [told] = zoe("explain", reader, "-o", "json").json()["inputs"]
    assert (told["view"], told["columns"], told["decided"]) == (read.view or None, list(read.columns), True)


def test_a_slower_way_is_named_wherever_one_looks_while_it_runs(server: Server, zoe: Zoe, reader: str) -> None:
    why = "plainly: the storage controller cannot be reached"
    read = InputRead("meters", SOURCE, why=why, unanswered=True)
    server.master.output = {f"{reader}.main.0.1": b"3 kWh\n"}
    server.start(reader, ev.InputsDecided(at_s=1.0, inputs=(read,)))
    assert f"input meters is read {why}" in zoe("show", reader).out
    assert f"input meters: {why}" in zoe("events", reader).out
    [told] = zoe("show", reader, "-o", "json").json()["inputs"]
    assert told["unanswered"]
    server.end(reader)
    followed = zoe("logs", "-f", reader)
    assert (followed.out, followed.err) == ("3 kWh\n", f"note: input meters is read {why}\n")


def test_before_it_is_decided_that_is_told(server: Server, zoe: Zoe, reader: str) -> None:
    server.master.explanation = {"reason": None, "ahead": 0, "nodes": {}}
    for command in ("show", "explain"):
        assert "not decided: it is decided after the execution gets its nodes" in zoe(command, reader).out
    assert zoe("cancel", reader).code == 0
    assert "not decided: it ended before" in zoe("explain", reader).out
