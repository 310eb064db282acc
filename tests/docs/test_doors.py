"""Each door in docs/operate/security.md names files that exist, and tests that fail without its checks."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.documents import DOCS, ROOT

CHECKS: dict[str, Any] = tomllib.loads((ROOT / "tests" / "doors.toml").read_text("utf-8"))
_PATH = re.compile(r"`([\w/.]+\.py|[\w/]+/)`")


def doors() -> Iterator[tuple[str, str, str]]:
    """Yield name, where it is checked, and tests of each door."""
    section = (DOCS / "operate/security.md").read_text("utf-8").partition("\n## Doors\n")[2].partition("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0] not in ("door", "---"):
            yield cells[0], cells[1], cells[4]


def paths(text: str) -> list[str]:
    """Return the paths in a cell; a bare name is in the folder of the path before it."""
    found: list[str] = []
    for name in _PATH.findall(text):
        found.append(name if "/" in name else str(Path(found[-1]).with_name(name)))
    return found


DOORS = {name: (checked, tests) for name, checked, tests in doors()}


@pytest.mark.parametrize("name", DOORS)
def test_files_named_by_a_door_exist(name: str) -> None:
    named = [*paths(DOORS[name][0]), *paths(DOORS[name][1])]
    assert [text for text in named if not (ROOT / text).exists()] == []


def test_every_named_test_fails_without_a_check_of_its_door() -> None:
    """`python -m scripts.testing.mutants --table tests/doors.toml` shows that they fail."""
    proved = defaultdict(set)
    for row in CHECKS.values():
        proved[row["door"]].add(row["test"].partition("::")[0])
    assert {name: set(paths(tests)) for name, (_, tests) in DOORS.items()} == dict(proved)


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_stands_once_where_the_table_says(name: str) -> None:
    row = CHECKS[name]
    assert (ROOT / row["path"]).read_text("utf-8").count(row["check"]) == 1
    file, _, function = row["test"].partition("::")
    assert not function or f"def {function}(" in (ROOT / file).read_text("utf-8")
