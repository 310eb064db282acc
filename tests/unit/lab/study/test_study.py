"""The command: it goes on where it was left, and its tables say what the rows say."""

from __future__ import annotations

import csv
from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from lab.study import command as study
from lab.study.cells import Cell
from lab.study.results import Results
from lab.study.tables import tables


def arguments(out: Path, *more: str) -> Namespace:
    parser = ArgumentParser()
    study.add(parser.add_subparsers())
    return parser.parse_args(["study", "--out", str(out), "--applications", "4", "--seeds", "2", *more])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_only_what_is_missing_or_was_cut_off_is_run_and_the_figures_are_the_same(tmp_path: Path) -> None:
    once = arguments(tmp_path, "--part", "ageing", "--processes", "1")
    assert once.run(once) == 0
    path = tmp_path / "ageing.csv"
    before = [{k: v for k, v in row.items() if k != "cpu_s"} for row in rows(path)]
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:-3], lines[-3][:30]]))
    kept = {tuple(row.values()) for row in rows(path)[:-1]}
    assert once.run(once) == 0
    after = rows(path)
    assert [{k: v for k, v in row.items() if k != "cpu_s"} for row in after] == before
    assert kept <= {tuple(row.values()) for row in after}, "existing cells have been run again"
    assert "## Ageing\n2 seeds." in (tmp_path / "tables.md").read_text()


def test_rows_of_another_size_are_not_taken_for_the_wanted_ones(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(cell("fifo", 0), figures(1.0, applications=5))
    assert results.completed_cells(4) == set()
    assert results.completed_cells(5) == {cell("fifo", 0)}


@pytest.mark.parametrize(("ratio", "text"), [(0.5, "0.50"), (1.0, "1.00")])
def test_ratios_are_between_runs_of_the_same_seed(tmp_path: Path, ratio: float, text: str) -> None:
    results = Results(tmp_path)
    for seed, value in enumerate([10.0, 1000.0, 7.0]):
        results.add(cell("fifo", seed), figures(value))
        results.add(cell("sjf", seed), figures(value * ratio))
    told = tables({"orders": results.rows("orders")})
    assert f"| sjf | {text} | {text} | {text} | {text} |" in told
    assert "Ratio to order `fifo`" in told


def cell(order: str, seed: int) -> Cell:
    return Cell("orders", order, "flexible", "none", 600.0, 0.0, "none", seed)


def figures(value: float, applications: int = 4) -> dict[str, float]:
    names = ("mean_turnaround_s", "p95_turnaround_s", "mean_bounded_slowdown", "max_bounded_slowdown", "mean_wait_s")
    return {"applications": applications, **dict.fromkeys(names, value), "allocation": 0.5, "preempted": 0, "cpu_s": 1}


def test_a_study_that_is_not_complete_says_so(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for seed in range(3):
        results.add(cell("fifo", seed), figures(1.0))
    assert "3 seeds." in tables({"orders": results.rows("orders")})
    results.add(cell("sjf", 0), figures(1.0))
    assert "1 to 3 seeds: the study is not complete" in tables({"orders": results.rows("orders")})
