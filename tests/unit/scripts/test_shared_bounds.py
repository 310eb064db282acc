"""The table of shared bounds names existing code, and leaves out no refusal."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from scripts.reference.shared_bounds import ALL, STRANGERS, bounds_page, number_at
from zoe_api.http.problems.codes import Code

ROOT = Path(__file__).resolve().parents[3]


def functions_in(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_each_refusal_of_too_much_is_in_the_table() -> None:
    told = {code for bound in ALL for code in bound.codes}
    busy = {str(code) for code in Code if re.search("too_many|too_often|too_deep|busy|quota", str(code))}
    assert busy == told


def test_each_number_and_each_test_is_there() -> None:
    for bound in ALL:
        assert all(isinstance(number_at(place), int) for place in bound.numbers), bound.what
        for test in bound.tests:
            path, _, name = test.partition("::")
            assert name in functions_in(ROOT / path), test


def test_each_bound_has_a_test_or_names_the_affected() -> None:
    for bound in ALL:
        assert bound.tests or "**" in bound.stops or bound.filled_by == "admins only", bound.what
    assert len(STRANGERS) == bounds_page().split("## Members")[0].count("\n| ") - 2  # the head
