"""Each promise of the page about degradation names a test that exists."""

from __future__ import annotations

import ast
import re

from tests.docs.documents import DOCS, ROOT

_TEST = re.compile(r"`(tests/\S+\.py)::(test_\w+)`")


def test_each_row_names_tests_that_exist() -> None:
    rows = [line for line in (DOCS / "operate/degradation.md").read_text().splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.endswith("| test |")]
    named = {row: _TEST.findall(row) for row in promises}
    assert len(promises) > 20
    assert [row for row, tests in named.items() if not tests and "not tested" not in row] == []
    for path, name in {test for tests in named.values() for test in tests}:
        names = {node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)}
        assert name in names, f"{path} has no {name}"
