"""Lint fails when a table beside the tests does not hold."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from scripts.testing import gates
from scripts.testing.costs import BUDGETS_S, Costs, FileCosts

HERE = "tests/unit/scripts/testing/test_gates.py"
OWN = f"{HERE}::test_the_tables_hold"


def today() -> date:
    return datetime.now(UTC).date()


def quarantine(path: Path, *rows: tuple[str, date]) -> Path:
    path.write_text("".join(f'"{test}" = {{ since = {since}, known = "?" }}\n' for test, since in rows))
    return path


def test_the_tables_hold() -> None:
    assert gates.main() == 0


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        (Costs(1.0, {"fast/1": {}}, {HERE: FileCosts(0.0, 1, BUDGETS_S[1], {"test_the_tables_hold[a]": 0.3})}), ""),
        (Costs(1.0, {}, {HERE: FileCosts(0.0, 1, BUDGETS_S[1] + 0.1)}), "tier 1 costs 900 CPU s, at most 900"),
        (Costs(1.0, {"some-part/1": {}}, {}), "no part some-part/1"),
        (Costs(1.0, {}, {HERE: FileCosts(dear={"test_gone": 1.0})}), f"no test {HERE}::test_gone"),
        (Costs(1.0, {}, {"tests/unit/gone.py": FileCosts()}), "no test tests/unit/gone.py"),
    ],
)
def test_wrong_costs_are_refused(costs: Costs, told: str) -> None:
    wrong = list(gates.wrong_costs(costs))
    assert len(wrong) == bool(told)
    assert told in "".join(wrong)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (f'test = "{OWN}"\nbreaks = "a:b"\n', "needs exactly"),
        ('test = "tests/gone.py::test_x"\nbreaks = "a:b"\nshows = "c"\n', "no such test"),
        (f'test = "{OWN}"\nbreaks = "a:b"\nshows = "c"\n', "in quarantine"),
        (f'test = "{HERE}"\nbreaks = "scripts.testing.gates:gone"\nshows = "c"\n', "no such function"),
    ],
)
def test_wrong_capabilities_are_refused(row: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "capabilities.toml").write_text("".join(f"[one_{n}]\n{row}" for n in range(30)))
    monkeypatch.setattr(gates, "CAPABILITIES", tmp_path / "capabilities.toml")
    monkeypatch.setattr(gates, "QUARANTINE", quarantine(tmp_path / "q.toml", (OWN, today())))
    wrong = list(gates.wrong_capabilities())
    assert len(wrong) == 30
    assert told in wrong[0]


@pytest.mark.parametrize(
    ("rows", "days", "told"),
    [
        ([OWN], 14, ""),
        ([OWN], 15, "mend or delete it"),
        ([f"{OWN}[{n}]" for n in range(11)], 0, "at most 10"),
        (["tests/gone.py::test_x"], 0, "no test"),
        ([HERE], 0, "exact node ids"),
        ([OWN], -1, "not in the future"),
    ],
)
def test_a_quarantine_is_short(
    rows: list[str], days: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = today() - timedelta(days=days)
    monkeypatch.setattr(gates, "QUARANTINE", quarantine(tmp_path / "q.toml", *((row, since) for row in rows)))
    wrong = list(gates.wrong_quarantine())
    assert len(wrong) == bool(told)
    assert told in "".join(wrong)


@pytest.mark.parametrize("row", ["{ since = 2026-11-28 }", '{ since = "2026-11-28", known = "?" }', '{ known = "?" }'])
def test_a_row_without_a_date_and_a_reason_is_refused(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.toml").write_text(f'"{OWN}" = {row}\n')
    monkeypatch.setattr(gates, "QUARANTINE", tmp_path / "q.toml")
    assert ["needs since" in text for text in gates.wrong_quarantine()] == [True]


def test_a_file_that_belongs_to_no_part_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests" / "new").mkdir(parents=True)
    (tmp_path / "tests" / "new" / "test_x.py").touch()
    monkeypatch.setattr(gates, "TESTS", tmp_path / "tests")
    assert ["tests/new/test_x.py belongs to no part" in place for place in gates.wrong_places()] == [True]
