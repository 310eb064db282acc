"""A failed test gets a second try, but for parts that are the same each time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import run_tests
from scripts.run_tests import PARTS, SECOND_TRIES_MAX, STAGES, Part, close, run, suite

PASSES = "def test_fine(): pass\n"
SKIPS = "import pytest\n\n@pytest.mark.skip(reason='no such program')\ndef test_skipped(): pass\n"
FAILS = "def test_broken(): assert False\n"
# Fails when it is run for the first time in this folder.
FAILS_ONCE = """
import re
from pathlib import Path

def test_by_chance():
    mark = Path(__file__).with_suffix(".mark")
    seen = mark.exists()
    mark.touch()
    assert seen
"""
# Passes, and cannot be tidied up the first time.
LEAVES_ONCE = """
import pytest
import re
from pathlib import Path

@pytest.fixture
def thing():
    yield
    mark = Path(__file__).with_suffix(".mark")
    seen = mark.exists()
    mark.touch()
    assert seen

def test_that_leaves(thing): pass
"""


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part with programs of others and one of seeds alone, of the files that a test writes there."""
    monkeypatch.setattr(run_tests, "PARTS", {"swarm": [str(tmp_path)], "properties": [str(tmp_path)]})
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text, "utf-8")


def counts(part: Part) -> tuple[int, int, int, bool]:
    return part.passed, part.failed, part.skips.total(), part.ok


def test_what_passes_at_the_second_try_is_named(parts: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(parts, fine=PASSES, skipped=SKIPS, chance=FAILS_ONCE)
    part = suite("swarm")
    assert counts(part) == (2, 0, 1, True)
    assert close([part], 1.0) == 0
    told = capfd.readouterr().out
    assert re.search(r"passed at the second try:\n  \S*test_chance::test_by_chance\n", told)
    assert "2 passed, 0 failed, 1 skipped" in told


def test_an_error_while_tidying_up_is_tried_again_too(parts: Path) -> None:
    write(parts, leaves=LEAVES_ONCE)
    assert counts(suite("swarm")) == (1, 0, 0, True)


def test_what_fails_twice_has_failed(parts: Path) -> None:
    write(parts, fine=PASSES, broken=FAILS, chance=FAILS_ONCE)
    part = suite("swarm")
    assert counts(part) == (2, 1, 0, False)
    assert close([part], 1.0) == 1


def test_what_is_the_same_each_time_gets_no_second_try(parts: Path) -> None:
    write(parts, chance=FAILS_ONCE)
    assert counts(suite("properties")) == (0, 1, 0, False)


def test_many_failures_are_no_chance(parts: Path) -> None:
    write(parts, **{f"chance_{number}": FAILS_ONCE for number in range(SECOND_TRIES_MAX + 1)})
    assert counts(suite("swarm")) == (0, SECOND_TRIES_MAX + 1, 0, False)


def test_a_run_that_broke_down_has_failed_whatever_a_second_one_would_say(parts: Path) -> None:
    write(parts, chance=FAILS_ONCE)
    (parts / "conftest.py").write_text("def pytest_sessionfinish(): raise OSError('an engine does not end')\n", "utf-8")
    part = suite("swarm")
    assert not part.ok
    assert part.second_try == []


def test_a_part_that_cannot_be_read_has_failed(parts: Path) -> None:
    write(parts, fine=PASSES, unreadable="import nothing_of_that_name\n")
    assert not suite("swarm").ok


def test_every_part_has_its_place_in_the_run() -> None:
    assert sorted(name for stage in STAGES for lane in stage for name in lane) == sorted(PARTS)


def test_lanes_are_told_in_the_sequence_in_which_they_were_asked_for(
    parts: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_tests, "STAGES", ((("swarm",), ("properties",)),))
    write(parts, fine=PASSES, skipped=SKIPS)
    assert [(part.name, *counts(part)) for part in run(["properties", "swarm"])] == [
        ("properties", 1, 0, 1, True),
        ("swarm", 1, 0, 1, True),
    ]
    told = capfd.readouterr().out
    assert "swarm; properties: beside each other" in told
    assert "=== swarm\n" in told
    assert "=== properties\n" in told
