"""The tier of a test follows from its cost, and the table from what runs took."""

from __future__ import annotations

import pytest

from scripts.testing import costs as costs_module
from scripts.testing.costs import CHEAP_S, Costs, FileCosts, Measured

UNIT, API = "tests/unit/test_a.py", "tests/api/test_b.py"
NEVER = "tests/unit/test_new.py::test_that_was_never_measured"


@pytest.fixture(autouse=True)
def all_tests_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs_module, "exists", lambda test: "gone" not in test)


def table(capabilities: frozenset[str] = frozenset(), **exceptions: dict[str, str]) -> Costs:
    files = {
        UNIT: FileCosts(0.0, 10, 0.3, {"test_dear": 0.21, "test_near": 0.19}),
        API: FileCosts(4.0, 10, 1.0, {"test_dear[1]": 0.51}),
        "tests/web/test_c.py": FileCosts(6.0, 10, 0.5),
    }
    shared = {"fast/1": {"pytest": 3.0}, "api/2": {"pytest": 5.0, "server": 1.0}}
    listed = {1: exceptions.get("first", {}), 2: exceptions.get("second", {})}
    return Costs(0.01, shared, files, capabilities, listed)


@pytest.mark.parametrize(
    ("test", "tier"),
    [
        (f"{UNIT}::test_dear", 2),
        (f"{UNIT}::test_near", 1),
        (f"{UNIT}::test_cheap", 1),
        (NEVER, 1),
        (f"{API}::test_dear[1]", 2),
        (f"{API}::test_dear[2]", 1),
        ("tests/web/test_c.py::test_whose_share_of_the_fixture_is_dear", 2),
    ],
)
def test_the_tier_follows_from_cost_and_share_of_fixtures(test: str, tier: int) -> None:
    assert table().tier(test) == tier


def test_a_capability_is_in_tier_1_whatever_it_costs() -> None:
    costs = table(
        frozenset({f"{API}::test_dear[1]", "tests/web/test_c.py::test_x"}), second={f"{API}::test_dear": "why"}
    )
    assert costs.tier(f"{API}::test_dear[1]") == costs.tier("tests/web/test_c.py::test_x") == 1
    assert costs.tier("tests/web/test_c.py::test_y") == 2
    assert "tests/web/test_c.py" in costs.files_of(1, costs.files)


def test_exceptions_name_tests_with_and_without_parameters_and_files() -> None:
    costs = table(first={f"{UNIT}::test_dear": "why"}, second={API: "why"})
    assert costs.tier(f"{UNIT}::test_dear") == 1
    assert costs.tier(f"{API}::test_cheap") == 2


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


def records(own_s: float, loop_s: float = 0.01) -> list[dict[str, object]]:
    test = f"{API}::test_dear[1]"
    return [
        {"kind": "calibration", "cpu_s": loop_s},
        {"kind": "begin", "name": test},
        {"kind": "fixture", "name": "server (session)", "cpu_s": 2.0},
        {"kind": "fixture", "name": "page (module)", "cpu_s": 1.0},
        {"kind": "fixture", "name": "user (function)", "cpu_s": 0.25},
        {"kind": "call", "name": test, "cpu_s": own_s},
        {"kind": "module end", "name": test, "cpu_s": 0.5},
        {"kind": "run", "seconds": 9.0, "cpu_s": 4.75 + own_s},
    ]


def test_costs_are_told_apart_and_the_median_counts() -> None:
    measured, costs = Measured(), table()
    for own_s in (1.0, 7.0, 2.0):
        measured.add("api/1", records(own_s), 0.01)
    measured.update(costs)
    row = costs.files[API]
    assert (row.dear, row.fixtures) == ({"test_dear[1]": 2.25}, 1.5)
    assert costs.shared["api/1"] == {"server": 2.0, "pytest": 1.0}
    assert (row.cheap_tests, row.cheap) == (10, 1.0)


def test_fixtures_stay_if_a_run_left_out_dear_tests_that_may_use_more() -> None:
    measured, costs = Measured(), table()
    costs.files[API].dear["test_other"] = 3.0
    measured.add("api/1", records(1.0), 0.01)
    measured.update(costs)
    assert costs.files[API].fixtures == 4.0


def test_removed_tests_leave_the_table() -> None:
    measured, costs = Measured(), table()
    costs.files[API].dear["test_gone"] = 3.0
    measured.add("api/1", records(1.0), 0.01)
    measured.add("api/1", [{"kind": "begin", "name": "tests/api/test_gone.py::test_x"}], 0.01)
    measured.update(costs)
    assert "test_gone" not in costs.files[API].dear
    assert "tests/api/test_gone.py" not in costs.files


def test_a_slow_machine_is_divided_out() -> None:
    measured = Measured()
    assert measured.add("api/1", records(1.0, loop_s=0.02), 0.01) == pytest.approx(5.75 / 2)
    assert measured.tests[f"{API}::test_dear[1]"] == [pytest.approx(1.25 / 2)]


def test_a_dear_test_that_became_cheap_leaves_the_table() -> None:
    measured, costs = Measured(), table()
    measured.add("api/1", [*records(0.0)[:-3], {"kind": "run", "cpu_s": 0.1}], 0.25)
    assert measured.tests[f"{API}::test_dear[1]"][0] > CHEAP_S
    measured = Measured()
    measured.add("api/1", [{"kind": "begin", "name": f"{API}::test_dear[1]"}], None)
    measured.update(costs)
    assert costs.files[API].dear == {}
