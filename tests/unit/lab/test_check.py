"""The command `python -m lab check`: its figures and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.__main__ import main
from zoe_lib.domain.cluster.policy import Policy
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_simulator.formats.swf import swf_lines
from zoe_simulator.lublin import generate


@pytest.fixture(autouse=True)
def _logging_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command sets the logging of its process, which here is that of all tests."""
    monkeypatch.setattr("structlog.configure", lambda **_: None)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text("\n".join(swf_lines(generate(120, 32, seed=4, overestimate=1.0), "made")))
    return path


def figures_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: object) -> dict[str, Any]:
    monkeypatch.setattr("sys.argv", ["lab", "check", *map(str, words), "--json"])
    assert main() == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return result


def test_a_replay_without_faults_keeps_the_invariants(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = figures_of(capsys, monkeypatch, log, "--backfill", "easy")
    assert (result["jobs"], result["not_run"]) == (120, 0)


def test_faults_are_the_same_for_the_same_seed(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, again, other = (figures_of(capsys, monkeypatch, log, "--faults", 40, "--seed", seed) for seed in (1, 1, 2))
    assert first["digest"] == again["digest"] != other["digest"]
    assert {k: v for k, v in first.items() if k != "jobs_per_s"} == {
        k: v for k, v in again.items() if k != "jobs_per_s"
    }
    assert sum(count for name, count in first.items() if name.startswith("fault_") and isinstance(count, int)) > 20


def test_a_broken_invariant_is_exit_code_1(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(snapshot: Snapshot, policy: Policy) -> Plan:
        return schedule(Snapshot(snapshot.now_s, snapshot.nodes, snapshot.queued), policy)

    monkeypatch.setattr("zoe_master.loop.master.schedule", wrong)
    monkeypatch.setattr("sys.argv", ["lab", "check", str(log)])
    assert main() == 1
    assert "over-committed" in capsys.readouterr().err
