"""A renamed test keeps its rows."""

from __future__ import annotations

import pytest

from scripts.testing.rename import renamed_id


@pytest.mark.parametrize(
    ("test", "old", "new", "renamed"),
    [
        ("tests/a/test_x.py::test_y[1]", "tests/a", "tests/b", "tests/b/test_x.py::test_y[1]"),
        ("tests/a/test_x.py::test_y[1]", "tests/a/test_x.py", "tests/a/test_z.py", "tests/a/test_z.py::test_y[1]"),
        ("tests/a/test_x.py::test_y[1]", "tests/a/test_x.py::test_y", "tests/a/test_x.py::test_z",
         "tests/a/test_x.py::test_z[1]"),
        ("tests/a/test_x.py::test_y2", "tests/a/test_x.py::test_y", "tests/a/test_x.py::test_z",
         "tests/a/test_x.py::test_y2"),
        ("tests/a/test_x.py", "tests/a/test_x.py", "", ""),
        ("tests/ab/test_x.py", "tests/a", "tests/b", "tests/ab/test_x.py"),
    ],
)  # fmt: skip
def test_ids_below_the_old_name_are_renamed(test: str, old: str, new: str, renamed: str) -> None:
    assert renamed_id(test, old, new) == renamed
