"""The command `zoe-sim run`: its figures, its files and its exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.zoe_simulator.reference import simulate
from zoe_simulator.__main__ import main
from zoe_simulator.formats.swf import read_swf, swf_lines
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
    monkeypatch.setattr("sys.argv", ["zoe-sim", "run", *map(str, words), "--json"])
    assert main() == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return result


def test_the_figures_and_the_starts(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = tmp_path / "starts.csv"
    result = figures_of(capsys, monkeypatch, log, "--backfill", "easy", "--starts", starts)
    assert result.keys() >= {
        "mean_wait_s",
        "mean_bounded_slowdown",
        "max_bounded_slowdown",
        "utilisation",
        "jobs_per_s",
    }
    assert (result["jobs"], result["not_run"]) == (120, 0)
    with starts.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["job_id"]) for row in rows] == list(range(1, 121))


def test_invalid_trace_exits_with_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.txt"
    path.write_text("hello")
    monkeypatch.setattr("sys.argv", ["zoe-sim", "run", str(path)])
    assert main() == 2
    assert "unknown format" in capsys.readouterr().err


def test_orders_are_those_of_the_literature_unless_ageing_is_asked_for(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*words: object) -> dict[int, float]:
        path = tmp_path / "starts.csv"
        figures_of(capsys, monkeypatch, log, "--order", "sjf", "--starts", path, *words)
        with path.open(newline="") as file:
            return {int(row["job_id"]): float(row["start_s"]) for row in csv.DictReader(file)}

    trace = read_swf(log)
    plain = started()
    assert plain == simulate(trace.processors, list(trace.jobs), "none", "sjf")
    assert started("--ageing", 600) != plain


def test_run_times_are_learned_only_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "busy.swf"
    log.write_text("\n".join(swf_lines(generate(300, 32, seed=4, overestimate=5.0), "made")))

    def started(*words: object) -> dict[int, float]:
        path = tmp_path / "starts.csv"
        figures_of(capsys, monkeypatch, log, "--backfill", "easy-sjbf", "--starts", path, *words)
        with path.open(newline="") as file:
            return {int(row["job_id"]): float(row["start_s"]) for row in csv.DictReader(file)}

    trace = read_swf(log)
    asked = simulate(trace.processors, list(trace.jobs), "easy-sjbf")
    assert started() == started("--predict", "off") == asked
    learned = [started("--predict", name) for name in ("mean2", "neighbours")]
    assert learned[0] != asked != learned[1] != learned[0]


def test_nine_of_ten_executions_start_by_the_forecast(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.swf"
    path.write_text("\n".join(swf_lines(generate(600, 64, seed=3, overestimate=2.0), "made")))
    told = figures_of(capsys, monkeypatch, path, "--backfill", "easy", "--forecast-every", 1)
    assert told["forecasts"] > 200
    assert 0.85 <= told["started_by_p90"] <= 0.95
    assert told["started_by_p50"] < told["started_by_p90"]
    assert told["median_p50_s"] < told["median_p90_s"]
    by_width = {row["processors"]: row for row in told["forecasts_by_width"]}
    assert sum(row["forecasts"] for row in by_width.values()) == 2 * told["forecasts"]
    assert by_width["all"]["started_by_p90"]["share"] == told["started_by_p90"]
    assert by_width["all"]["mean_error_s"] < by_width["all"]["naive_mean_error_s"]
    third = figures_of(capsys, monkeypatch, path, "--backfill", "easy", "--forecast-every", 3)
    assert 0 < third["forecasts"] < told["forecasts"] / 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--exact-runtimes", "--predict", "mean2"), "--predict"),
        (("--window", "0:10"), "--report"),
        (("--ageing", "-1"), "at least 0"),
    ],
)
def test_option_without_effect_is_refused(
    log: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["zoe-sim", "run", str(log), *words])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert says in capsys.readouterr().err
