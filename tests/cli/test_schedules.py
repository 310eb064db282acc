"""app, dispatch and schedule, over the real API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import APP, Zoe
from tests.cli.server import Server

REPORT = {
    **APP,
    "params": {"day": {"default": "monday"}},
    "components": [{**APP["components"][0], "command": ["report", "{param:day}"]}],  # type: ignore[index]
}


@pytest.fixture
def report(tmp_path: Path) -> str:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(REPORT))
    return str(file)


def test_an_application_is_stored_and_dispatched(server: Server, zoe: Zoe, report: str) -> None:
    assert zoe("app", "put", "report", report, "-o", "json").json()["version"] == 1
    assert "application" in zoe("app", "ls").out
    run = zoe("dispatch", "report", "--param", "day=friday", "--hold", "-o", "json").json()
    execution = server.get(run["id"])
    assert (run["kind"], execution.application.components[0].command[1]) == ("execution", "friday")
    assert execution.conditions.held is not None
    name = zoe("dispatch", "report", "--idempotency-key", "k", "-o", "name").out
    assert zoe("dispatch", "report", "--idempotency-key", "k", "-o", "name").out == name
    assert zoe("dispatch", "report", "--array", "0-3%2", "-o", "json").json()["kind"] == "array"
    wrong = zoe("dispatch", "report", "--param", "dya=x")
    assert (wrong.code, "there is no parameter 'dya'" in wrong.err) == (2, True)
    assert zoe("app", "show", "report", "-o", "json").json()["document"]["params"] == REPORT["params"]
    added = zoe("schedule", "add", "daily", "@daily", "report")
    assert (added.code, "its times are in UTC" in added.err) == (0, True)
    removed = zoe("app", "rm", "report")
    said = "schedule daily of ada is refused while neither ada nor the tenant has report stored"
    assert (removed.code, said in removed.err) == (0, True), removed.err
    zoe("schedule", "rm", "daily")
    assert zoe("dispatch", "report").code == 3


def test_invalid_file_is_refused_with_its_name(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    file.write_text(json.dumps({**REPORT, "params": {}}, indent=1))
    refused = zoe("app", "put", "wrong", str(file))
    assert (refused.code, "app.json:" in refused.err, "no parameter 'day'" in refused.err) == (2, True, True)


def test_a_schedule_from_the_command_line(server: Server, zoe: Zoe, report: str) -> None:
    zoe("app", "put", "report", report)
    added = zoe("schedule", "add", "nightly", "30 2 * * *", "report", "--zone", "Europe/Paris", "--jitter", "10m")
    assert (added.code, "30 2 * * * Europe/Paris" in added.out) == (0, True)
    assert zoe("schedule", "add", "other", "@hourly", report, "--param", "day=x", "--overlap", "queue").code == 0
    assert zoe("schedule", "ls", "-o", "name").out.split() == ["nightly", "other"]
    assert "held" in zoe("schedule", "hold", "nightly").out
    assert "held" not in zoe("schedule", "release", "nightly").out
    run = zoe("schedule", "run", "nightly", "-o", "name").out.strip()
    assert server.get(run).user
    shown = zoe("schedule", "show", "nightly")
    assert (run in shown.out, "by hand" in shown.out, "next: " in shown.err) == (True, True, True)
    for times, zone in (("61 * * * *", "UTC"), ("@daily", "Mars/Phobos")):
        assert zoe("schedule", "add", "x", times, "report", "--zone", zone).code == 2
    assert zoe("schedule", "add", "x", "@daily", "missing").code == 3
    assert zoe("schedule", "rm", "nightly").code == 0
    assert zoe("schedule", "show", "nightly").code == 3
