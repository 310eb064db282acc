"""run --after --begin --hold, and hold, release, modify, requeue over the real API."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.cli.server import OTHER, Server
from zoe_cli.commands.words.dates import coming
from zoe_client.vocabulary import ExecutionState, Holder


def test_run_after_others(server: Server, zoe: Zoe, app_file: Path) -> None:
    ids = [zoe("run", str(app_file), "-o", "name").out.strip() for _ in range(3)]
    after = ["--after", f"ok:{ids[0]},any:{ids[1]}", "--after", f"fail:{ids[2]}", "--keep"]
    done = zoe("run", str(app_file), *after)
    assert done.code == 0
    row = done.out.splitlines()[1].split()
    assert (row[3], row[-1]) == ("submitted", "dependencies")
    conditions = server.get(row[0]).conditions
    assert [str(dependency) for dependency in conditions.after] == [f"ok:{ids[0]}", f"any:{ids[1]}", f"fail:{ids[2]}"]
    assert conditions.keep
    shown = zoe("show", row[0]).out
    assert "It runs after 3 other executions." in shown
    assert f"ok:{ids[0]} (has not ended)" in shown
    assert "It runs after 3 other executions." in zoe("explain", row[0]).out


@pytest.mark.parametrize("after", ["x1", "later:x1", "ok:", "any", "", "ok:x1,"])
def test_invalid_dependency_is_refused_before_sending(zoe: Zoe, app_file: Path, after: str) -> None:
    done = zoe("run", str(app_file), "--after", after)
    assert done.code == 2
    assert done.out == ""


def test_keep_needs_after(zoe: Zoe, app_file: Path) -> None:
    assert "--keep needs --after" in zoe("run", str(app_file), "--keep").err


def test_begin_and_hold(server: Server, zoe: Zoe, app_file: Path) -> None:
    execution_id = zoe("run", str(app_file), "--begin", "+3h", "--hold", "-o", "name").out.strip()
    conditions = server.get(execution_id).conditions
    assert conditions.held is Holder.USER
    assert conditions.begin_at_s == pytest.approx(time.time() + 3 * 3600, abs=60)
    assert zoe("release", execution_id).code == 0
    assert server.get(execution_id).conditions.held is None
    assert "It does not begin before" in zoe("show", execution_id).out
    assert zoe("modify", execution_id, "--begin", "none").code == 0
    assert server.get(execution_id).conditions.begin_at_s is None


def test_the_same_command_with_the_same_key_is_the_same_request(server: Server, zoe: Zoe, app_file: Path) -> None:
    command = ("run", str(app_file), "--begin", "+3h", "--idempotency-key", "later", "-o", "name")
    once, again = zoe(*command), zoe(*command)
    assert (once.code, again.code, again.out) == (0, 0, once.out), again.err


def test_modify(server: Server, zoe: Zoe, app_file: Path) -> None:
    execution_id = zoe("run", str(app_file), "--hold", "-o", "name").out.strip()
    done = zoe(
        *("modify", execution_id, "--priority", "-7", "--deadline", "2h", "--time-limit", "90m"),
        *("--set", "worker.resources.memory=3GiB"),
    )
    assert done.code == 0, done.err
    changed = server.get(execution_id)
    assert (changed.priority, changed.application.time_limit_s) == (-7, 5400)
    assert changed.application.component("worker").reservation.memory_bytes == 3 * 2**30
    assert changed.deadline_s == pytest.approx(time.time() + 7200, abs=60)
    zoe("modify", execution_id, "--time-limit", "none", "--deadline", "none")
    changed = server.get(execution_id)
    assert (changed.application.time_limit_s, changed.deadline_s) == (None, None)
    assert "priority 0 to -7" in zoe("events", execution_id).out


def test_modify_needs_something_to_change_and_what_waits(server: Server, zoe: Zoe, app_file: Path) -> None:
    execution_id = zoe("run", str(app_file), "--hold", "-o", "name").out.strip()
    assert zoe("modify", execution_id).code == 2
    assert zoe("modify", execution_id, "--set", "worker.total_count=9").code != 0
    zoe("cancel", execution_id)
    refused = zoe("modify", execution_id, "--priority", "-1")
    assert refused.code == 5
    assert "it no longer waits: it is cancelled" in refused.err


def test_several_are_held_and_each_refusal_is_told(server: Server, zoe: Zoe, app_file: Path) -> None:
    ids = [zoe("run", str(app_file), "-o", "name").out.strip() for _ in range(2)]
    done = zoe("hold", ids[0], "x0", ids[1])
    assert done.code == 3
    assert "x0:" in done.err
    assert [server.get(id_).conditions.held for id_ in ids] == [Holder.USER] * 2
    assert zoe("release", *ids, token=OTHER).code == 3
    assert zoe("release", *ids).code == 0
    assert [server.get(id_).state for id_ in ids] == [ExecutionState.SUBMITTED] * 2
    assert "it is not running" in zoe("requeue", ids[0]).err


@pytest.mark.parametrize("text", ["25:00", "12:60", "+x", "tomorrow", "-3h", ""])
def test_times_that_are_none(zoe: Zoe, app_file: Path, text: str) -> None:
    assert zoe("run", str(app_file), "--begin", text).code == 2


def test_a_time_of_day_is_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also across both changes of the clock in Rome: 2026-03-29 and 2026-10-25."""
    monkeypatch.setenv("TZ", "Europe/Rome")
    time.tzset()
    try:
        for now, text, then in (
            ("2026-06-01 07:00", "08:00", "2026-06-01 08:00"),
            ("2026-06-01 08:00", "08:00", "2026-06-02 08:00"),
            ("2026-03-28 23:00", "08:00", "2026-03-29 08:00"),
            ("2026-03-28 09:00", "08:00", "2026-03-29 08:00"),
            ("2026-10-24 09:00", "08:00", "2026-10-25 08:00"),
            ("2026-12-31 23:59", "00:00", "2027-01-01 00:00"),
        ):
            at_s = datetime.fromisoformat(now).timestamp()
            with monkeypatch.context() as patch:
                patch.setattr("zoe_cli.commands.words.dates.now_s", lambda at_s=at_s: at_s)
                assert datetime.fromtimestamp(coming(text)).isoformat(" ", "minutes") == then  # noqa: DTZ006
    finally:
        monkeypatch.undo()
        time.tzset()


def test_retries_of_the_command_line_are_those_of_the_description(zoe: Zoe, app_file: Path) -> None:
    options = ["--retries", "3", "--retry-pause", "1m", "--retry-exit-code", "75", "--memory-grow", "2x", "--show"]
    shown = zoe("run", str(app_file), *options).json()
    assert (shown["retries"], shown["retry"]) == (3, {"pause_s": 60, "exit_codes": [75], "memory_factor": 2})
    assert "--retries N" in zoe("run", str(app_file), "--memory-grow", "2x").err
    assert zoe("run", str(app_file), "--retries", "1", "--memory-grow", "much").code == 2
    assert zoe("run", str(app_file), "--retries", "1", "--memory-grow", "0.5x").code == 2


def test_scale(server: Server, zoe: Zoe, app_file: Path) -> None:
    execution_id = zoe("run", str(app_file), "-o", "name").out.strip()
    scaled = zoe("scale", execution_id, "worker=5")
    assert scaled.out.splitlines()[1].split()[4] == "0/2+0/4"
    assert "waits: the new numbers of instances count once it starts" in scaled.err
    assert "has these numbers of instances already" in zoe("scale", execution_id, "worker=5").err
    assert server.get(execution_id).application.component("worker").total_count == 5
    refused = zoe("scale", execution_id, "worker=0", "main=2", "nobody=2")
    assert refused.code != 0
    assert "1 instances of worker are essential, and stay" in refused.err
    assert "it has no component nobody" in refused.err
    assert zoe("scale", execution_id, "worker=2", "worker=3").code == 2
    for text in ("worker", "worker=", "=3", "worker=-1", "worker=x", "worker=100000"):
        assert zoe("scale", execution_id, text).code == 2
