"""The nearest tests of a change come first."""

from __future__ import annotations

import pytest

from scripts.testing import check
from scripts.testing.check import affected_tests, choose_tests


def test_the_mirror_of_a_module_comes_first_and_those_that_import_it_follow() -> None:
    tests = affected_tests(["zoe_lib/pricing/statement.py"])
    assert tests[0].startswith("tests/")
    assert any("statement" in test or "pric" in test for test in tests[:3])
    assert len(tests) > 10


def test_a_wide_change_is_cut_by_the_table_of_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "CHECK_S", 2.0)
    tests, left = choose_tests(["zoe_lib/domain/executions/execution.py"], 1)
    assert left > 0
    assert all(test.startswith("tests/unit/") for test in tests)


def test_a_change_of_documents_reaches_no_unit_test() -> None:
    assert choose_tests(["docs/use/using.md"], 1) == ([], 0)
