"""The numbers behind the pictures, and the files of a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.jobs import Job, Run, TraceError, pool_of, processors_of
from zoe_simulator.jobs import Trace as Log
from zoe_simulator.lublin import generate
from zoe_simulator.measures.figures import figures
from zoe_simulator.report.series import Bar, Moment, busiest_day, cdf, gantt, over_time, thin_moments
from zoe_simulator.report.write import write_report
from zoe_simulator.trace import Replay


def run(number: int, submit_s: float, start_s: float, end_s: float, processors: int = 1) -> Run:
    return Run(Job(number, submit_s, end_s - start_s, 0.0, "u", processors_of(processors)), start_s, end_s)


def test_a_cdf_ends_at_all() -> None:
    assert cdf([3.0, 1.0, 1.0, 2.0]) == [(1.0, 0.25), (1.0, 0.5), (2.0, 0.75), (3.0, 1.0)]
    many = cdf(map(float, range(12_345)))
    assert len(many) < 2_100
    assert many[-1] == (12_344.0, 1.0)


def test_queue_and_use_change_with_every_event() -> None:
    runs = [run(1, 0.0, 0.0, 10.0, 2), run(2, 5.0, 10.0, 20.0, 3)]
    assert over_time(runs) == [Moment(0.0, 0, 2.0), Moment(5.0, 1, 2.0), Moment(10.0, 0, 3.0), Moment(20.0, 0, 0.0)]


def test_thinning_keeps_the_means() -> None:
    runs = Replay(generate(800, 64, seed=2), Policy()).run()
    moments = over_time(runs)
    few = thin_moments(moments)
    assert len(few) == 1000 < len(moments)
    span_s = (moments[-1].at_s - moments[0].at_s) / 1000
    assert sum(m.processors for m in few) * span_s == pytest.approx(sum(r.job.run_s * r.job.processors for r in runs))
    assert sum(m.waiting for m in few) * span_s == pytest.approx(sum(r.wait_s for r in runs))


def test_a_gantt_chart_gives_no_processor_twice() -> None:
    trace = generate(400, 32, seed=6)
    runs = Replay(trace, Policy(backfill="easy")).run()
    bars = gantt(runs, 0.0, 1e12)
    assert sum(bar.lanes * (bar.end_s - bar.start_s) for bar in bars) == sum(
        r.job.run_s * r.job.processors for r in runs
    )
    assert max(bar.first_lane + bar.lanes for bar in bars) <= trace.processors
    for bar in bars:
        for other in bars:
            apart = other.end_s <= bar.start_s or other.start_s >= bar.end_s
            beside = other.first_lane >= bar.first_lane + bar.lanes or bar.first_lane >= other.first_lane + other.lanes
            assert bar is other or apart or beside


def test_a_gantt_chart_holds_what_its_window_touches() -> None:
    runs = [run(1, 0.0, 0.0, 10.0, 2), run(2, 0.0, 0.0, 30.0), run(3, 5.0, 10.0, 20.0, 2)]
    assert gantt(runs, 12.0, 15.0) == [Bar(2, 2, 1, 0.0, 30.0), Bar(3, 0, 2, 10.0, 20.0)]
    assert gantt(runs, 40.0, 50.0) == []


def test_the_busiest_day_is_around_the_longest_queue() -> None:
    day = 86400.0
    assert busiest_day([Moment(0.0, 1, 1), Moment(3 * day, 9, 1), Moment(9 * day, 0, 0)]) == (2.5 * day, 3.5 * day)
    assert busiest_day([Moment(0.0, 1, 1), Moment(50.0, 0, 0)]) == (0.0, 50.0)


def test_a_report_is_a_page_pictures_and_numbers(tmp_path: Path) -> None:
    trace = generate(100, 32, seed=1)
    runs = Replay(trace, Policy(backfill="easy")).run()
    result = figures(trace, runs, 1.0) | {"trace": "<b>"}
    write_report(tmp_path / "r", trace, runs, result, (0.0, 1e6))
    assert {p.name for p in (tmp_path / "r").iterdir()} == {
        "report.json",
        "index.html",
        "waits-and-slowdowns.png",
        "over-time.png",
        "gantt-chart.png",
    }
    numbers = json.loads((tmp_path / "r" / "report.json").read_text())
    assert numbers["figures"]["jobs"] == 100
    assert numbers["wait_cdf"][-1][1] == 1.0
    assert len(numbers["gantt"]) >= 100
    page = (tmp_path / "r" / "index.html").read_text()
    assert page.count("<svg") == 3
    assert "&lt;b&gt;" in page
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in (tmp_path / "r").glob("*.png"))


def test_empty_log_makes_no_report(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="nothing has run"):
        write_report(tmp_path, Log("t", pool_of(1), ()), [], {}, None)
