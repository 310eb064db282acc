"""The tier of a test follows from its cost, and the table from the records of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.testing import costs as costs_module
from scripts.testing.costs import Costs, FileCosts, MeasuredRuns

UNIT, API, WEB = "tests/unit/test_a.py", "tests/api/test_b.py", "tests/web/test_c.py"
DEAR = f"{API}::test_dear[1]"


@pytest.fixture(autouse=True)
def all_tests_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs_module, "exists", lambda test: "gone" not in test)


def table(capabilities: frozenset[str] = frozenset()) -> Costs:
    files = {
        UNIT: FileCosts(0.0, 10, 0.3, {"test_dear": 0.21, "test_near": 0.19}),
        API: FileCosts(4.0, 10, 1.0, {"test_dear[1]": 0.51}),
        WEB: FileCosts(6.0, 10, 0.5),
    }
    shared = {"fast/1": {"pytest": 3.0}, "api/2": {"pytest": 5.0, "server": 1.0}}
    return Costs(0.01, shared, files, capabilities)


@pytest.mark.parametrize(
    ("test", "tier"),
    [
        (f"{UNIT}::test_dear", 2),
        (f"{UNIT}::test_near", 1),
        (f"{UNIT}::test_cheap", 1),
        ("tests/unit/test_new.py::test_that_was_never_measured", 1),
        (DEAR, 2),
        (f"{API}::test_dear[2]", 1),
        (f"{WEB}::test_whose_share_of_the_fixture_is_dear", 2),
    ],
)
def test_the_tier_follows_from_cost_and_share_of_fixtures(test: str, tier: int) -> None:
    assert table().tier(test) == tier


def test_a_capability_is_in_tier_1_whatever_it_costs() -> None:
    costs = table(frozenset({DEAR, f"{WEB}::test_x"}))
    assert [costs.tier(test) for test in (DEAR, f"{WEB}::test_x", f"{WEB}::test_y")] == [1, 1, 2]
    assert WEB in costs.files_of(1, costs.files)


def test_of_dear_cases_the_first_is_in_tier_1_unless_it_is_too_dear() -> None:
    costs = table()
    costs.files[API].dear = {"test_x[a]": 0.6, "test_x[b]": 0.2, "test_x[c]": 0.3, "test_y": 0.2}
    tiers = {name: costs.tier(f"{API}::{name}") for name in costs.files[API].dear}
    assert tiers == {"test_x[a]": 2, "test_x[b]": 1, "test_x[c]": 2, "test_y": 1}
    assert costs.tier(f"{API}::test_x[cheap]") == 1


def test_files_without_tests_of_tier_1_are_not_collected() -> None:
    costs = table()
    assert costs.files_of(1, [*costs.files, "tests/api/test_new.py"]) == [UNIT, API, "tests/api/test_new.py"]


def test_sums_count_fixtures_and_pytest_itself() -> None:
    costs = table()
    assert costs.total_s(1) == pytest.approx(0.3 + 0.19 + 4.0 + 1.0 + 3.0)
    assert costs.total_s(2) == pytest.approx(0.21 + 4.0 + 0.51 + 6.0 + 0.5 + 6.0)


def ran(test: str, own_s: float, outcome: str = "passed", **session: float) -> dict[str, Any]:
    return {"test": test, "outcome": outcome, "own_s": own_s, "shared_s": 1.5, "session": session}


def of_runs(*runs: list[dict[str, Any]]) -> MeasuredRuns:
    measured = MeasuredRuns()
    for records in runs:
        measured.add("api/1", [{"begin": DEAR, "loop_s": 0.01}, *records], 0.01)
    return measured


def test_costs_are_told_apart_and_the_median_counts() -> None:
    runs = ([ran(DEAR, own_s, server=2.0), {"whole_s": 4.5 + own_s}] for own_s in (1.25, 7.0, 2.25))
    costs = table()
    of_runs(*runs).update(costs)
    row = costs.files[API]
    assert (row.dear, row.fixtures) == ({"test_dear[1]": 2.25}, 1.5)
    assert costs.shared["api/1"] == {"server": 2.0, "pytest": 1.0}
    assert (row.cheap_tests, row.cheap) == (10, 1.0)


@pytest.mark.parametrize(
    ("other", "records", "dear", "fixtures"),
    [
        ("test_other", [ran(DEAR, 1.0)], {"test_dear[1]": 1.0, "test_other": 3.0}, 4.0),
        ("test_gone", [ran(DEAR, 1.0), ran("tests/gone.py::test_x", 1.0)], {"test_dear[1]": 1.0}, 4.0),
        ("test_y", [ran(DEAR, 0.01), ran(f"{API}::test_y", 0.2)], {"test_y": 0.2}, 3.0),
        (
            "test_y",
            [ran(DEAR, 0.01, "skipped"), ran(f"{API}::test_y", 0.2)],
            {"test_y": 0.2, "test_dear[1]": 0.51},
            4.0,
        ),
    ],
    ids=["one that a run left out may use more fixtures", "removed", "became cheap", "skipped"],
)
def test_rows_follow_the_runs(
    other: str, records: list[dict[str, Any]], dear: dict[str, float], fixtures: float
) -> None:
    costs = table()
    costs.files[API].dear[other] = 3.0
    of_runs(records).update(costs)
    assert (costs.files[API].dear, costs.files[API].fixtures) == (dear, fixtures)
    assert "tests/gone.py" not in costs.files


def test_a_slow_machine_is_divided_out(tmp_path: Path) -> None:
    (folder := tmp_path / "20261129T000000-1").mkdir()
    records = [{"begin": DEAR, "loop_s": 0.02}, ran(DEAR, 1.25), {"whole_s": 5.75}]
    (folder / "api.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records) + '{"begin": "cut')
    measured = MeasuredRuns()
    assert measured.add_run(folder, 0.01) == pytest.approx(5.75 / 2)
    assert measured.tests[DEAR] == [pytest.approx(1.25 / 2)]


def test_outdated_cost_is_reported() -> None:
    told = [*of_runs([ran(DEAR, 20.0), ran(f"{UNIT}::test_new", 0.5)]).drift(table())]
    assert told == [
        f"{UNIT}::test_new cost 0.5, and the table has it as cheap: `make test-costs` gives it its tier",
        f"{API} cost 21.5, the table says 5.0",
    ]
