"""Unit tests stand where the code stands that they test: tests/unit/<package>/test_<module>.py.

Those of the tests' own helpers stand in tests/unit/support.
"""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TESTS = HERE.parent
FILES = sorted(path.relative_to(HERE) for path in HERE.rglob("test_*.py") if path.parent != HERE)


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=str)
def test_each_folder_is_a_folder_of_the_code(folder: Path) -> None:
    places = (ROOT / folder, ROOT / "tests" / folder)
    assert any(place.is_dir() or place.with_suffix(".py").exists() for place in places)


def test_files_of_tests_are_named_as_pytest_finds_them() -> None:
    """`make check` and pytest agree on `test_*.py`; what has another name would never run."""
    assert sorted(map(str, TESTS.rglob("*_test.py"))) == []


def test_no_file_of_tests_is_empty() -> None:
    assert [str(path) for path in sorted(TESTS.rglob("test_*.py")) if not path.read_bytes().strip()] == []
