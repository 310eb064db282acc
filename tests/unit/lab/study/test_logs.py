"""The part of the study on logs: windows, populations and loads by fixed rules, and tables that say what rows say."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path

import pytest

from lab.study import command as study
from lab.study import log_workloads
from lab.study.log_cells import CONDITIONS, POLICIES, LogCell, log_cells, run_log_cell
from lab.study.log_tables import best, log_tables
from lab.study.log_workloads import AS_LOGGED, LOGS, POPULATIONS, WINDOWS, log_workload, window_of
from lab.study.results import Results
from zoe_lib.domain.cluster.policy import Policy, problems
from zoe_lib.domain.values.resources import Resources
from zoe_simulator.formats.swf import swf_lines
from zoe_simulator.jobs import Trace
from zoe_simulator.lublin import generate
from zoe_simulator.workload import Arrival


@pytest.fixture(scope="module")
def trace() -> Trace:
    return generate(400, 64, seed=3)


@pytest.fixture
def folder(tmp_path: Path, trace: Trace) -> Path:
    log_workloads.trace_of.cache_clear()
    (tmp_path / "traces").mkdir()
    for name in LOGS.values():
        (tmp_path / "traces" / name.removesuffix(".gz")).write_text("\n".join(swf_lines(trace, "test")))
    return tmp_path / "traces"


def load_of(workload: tuple[Arrival, ...], processors: float) -> float:
    return sum(arrival.area for arrival in workload) / (processors * workload[-1].submit_s)


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("load", [0.9, 1.1])
def test_arrivals_are_compressed_to_the_load(trace: Trace, load: float, population: str) -> None:
    for window in range(WINDOWS):
        assert load_of(log_workload(trace, window, 100, load, population), 64) == pytest.approx(load)


def test_as_logged_nothing_is_scaled_and_the_same_comes_out_again(trace: Trace) -> None:
    first = window_of(trace.jobs, 1, 100)
    workload = log_workload(trace, 1, 100, AS_LOGGED, "rigid")
    assert [arrival.submit_s for arrival in workload] == pytest.approx(
        [job.submit_s - first[0].submit_s for job in first]
    )
    assert [(arrival.run_s, arrival.estimate_s) for arrival in workload] == [
        (job.run_s, job.request_s) for job in first
    ]
    assert workload == log_workload(trace, 1, 100, AS_LOGGED, "rigid")


def test_windows_are_spread_over_the_log_and_full(trace: Trace) -> None:
    windows = [window_of(trace.jobs, number, 100) for number in range(WINDOWS)]
    assert [len(window) for window in windows] == [100] * WINDOWS
    assert windows[0][0] is trace.jobs[0]
    assert windows[-1][-1] is trace.jobs[-1]
    assert len({window[0].id for window in windows}) == WINDOWS


def test_populations_have_the_same_work_and_a_quarter_of_a_malleable_one_is_core(trace: Trace) -> None:
    made = {name: log_workload(trace, 0, 200, 0.9, name) for name in POPULATIONS}
    for rigid, malleable, mixed in zip(*(made[name] for name in POPULATIONS), strict=True):
        assert rigid.area == pytest.approx(malleable.area)
        assert (rigid.core, rigid.total) == (1, 1)
        assert malleable.core == -(-malleable.total // 4)
        assert (mixed.core, mixed.total) in {(1, 1), (malleable.core, malleable.total)}
    shares = Counter(arrival.total > 1 for arrival in made["mixed"])
    assert 0 < shares[True] < sum(arrival.total > 1 for arrival in made["malleable"])


@pytest.mark.parametrize(
    ("processors", "parts", "core"), [(1, 1, 1), (7, 7, 2), (8, 8, 2), (13, 1, 1), (64, 8, 2), (100, 5, 2), (6, 6, 2)]
)
def test_a_job_is_split_into_like_components(processors: int, parts: int, core: int) -> None:
    job = generate(1, 128, seed=1).jobs[0]
    job = type(job)(1, 0.0, 10.0, 10.0, "u", Resources(processors * 1000))
    one = log_workloads._arrival(0, job, 0.0, malleable=True)
    assert (one.total, one.core, one.component.cores_milli * parts) == (parts, core, processors * 1000)


def test_cells_are_all_different_and_can_be_put_in_force() -> None:
    every = list(log_cells())
    assert max(Counter(every).values()) == 1
    assert len(every) == WINDOWS * len(LOGS) * len(CONDITIONS) * len(POLICIES)
    assert {cell.population for cell in every} == set(POPULATIONS)
    for cell in every[: len(POLICIES)]:
        assert problems(cell.policy) == []
        assert LogCell.from_row(dict(zip(LogCell.names(), cell.key(), strict=True))) == cell


def arguments(out: Path, *more: str) -> Namespace:
    parser = ArgumentParser()
    study.add(parser.add_subparsers())
    return parser.parse_args(["study", "--out", str(out), "--part", "logs", "--processes", "1", *more])


def test_the_command_goes_on_where_it_was_left(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.study.log_workloads.LOGS", {"kth-sp2": LOGS["kth-sp2"][:-3]})
    cells = [cell for cell in log_cells() if cell.log == "kth-sp2" and cell.load == 1.1][:3]
    monkeypatch.setattr(study, "log_cells", lambda: iter(cells))
    once = arguments(tmp_path / "out", "--logs", str(folder), "--jobs", "40")
    results = Results(tmp_path / "out")
    results.add(cells[1], run_log_cell(cells[1], 40, folder))
    before = results.log_rows()[0][1]
    assert once.run(once) == 0
    assert [cell for cell, _ in results.log_rows()] == cells
    assert results.log_rows()[1][1] == before, "existing cells have been run again"
    assert "# Tables of the scheduling study on published logs" in (tmp_path / "out" / "logs.md").read_text()


def test_without_logs_the_part_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ZOE_TEST_DATA", raising=False)
    once = arguments(tmp_path)
    with pytest.raises(SystemExit):
        once.run(once)
    assert "give --logs FOLDER or set ZOE_TEST_DATA" in capsys.readouterr().err


def rows(factor: float) -> list[tuple[LogCell, dict[str, str]]]:
    """Every policy is as good as the first, but one that is `factor` times as slow."""
    return [
        (cell, {"mean_wait_s": str(100.0 * slow - 10.0), "mean_bounded_slowdown": str(5.0 * slow)})
        for cell in log_cells()
        for slow in [factor if (cell.order, cell.backfill) == ("size", "easy") else 1.0]
    ]


def test_tables_compare_window_by_window_and_adjust_for_all_comparisons() -> None:
    told = log_tables(rows(0.5))
    first, *others = [line for line in told.split("## Population")[0].splitlines() if line.startswith("| ")][2:]
    # 12 windows of one sign: 2 of 4,096, times 20 comparisons; the two of this policy are the smallest.
    assert first == "| size | easy | 0.50 | 0.010 | 0.50 | 0.010 |"
    assert all(line.endswith("| 1.00 | 1.000 | 1.00 | 1.000 |") for line in others)
    assert best(rows(0.5)) == ("size", "easy")
    assert best(rows(2.0)) != ("size", "easy")


def test_the_rows_that_are_published_show_the_default_better_than_fcfs_with_easy() -> None:
    """By both measures, on the mean over windows, in every population and at every load."""
    published = Results(Path(__file__).parents[4] / "docs" / "study").log_rows()
    default = (Policy().order, Policy().backfill)
    assert {cell for cell, _ in published} == set(log_cells())
    for condition in CONDITIONS:
        for measure in ("mean_wait_s", "mean_bounded_slowdown"):
            means = {
                policy: sum(
                    float(row[measure])
                    for cell, row in published
                    if ((cell.population, cell.load), (cell.order, cell.backfill)) == (condition, policy)
                )
                for policy in (default, POLICIES[0])
            }
            assert 0 < means[default] < means[POLICIES[0]], (condition, measure)
