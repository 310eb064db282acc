"""Files that runs took along are removed when no run uses them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zoe_files import carried
from zoe_files.beneath import Root

DAY_S = 86_400.0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / ".zoe-files/contents").mkdir(parents=True)
    (tmp_path / ".zoe-files/runs").mkdir()
    return tmp_path / ".zoe-files"


def add_set(place: Path, name: str, age_days: float, *contents: str) -> float:
    """Add a set with these contents, and return the present time."""
    directory = place / "runs" / name / "lib"
    directory.mkdir(parents=True)
    for content in contents:
        (place / "contents" / content).write_text(content * 10)
        os.link(place / "contents" / content, directory / content)
    now_s = (place / "runs").stat().st_mtime
    os.utime(place / "runs" / name, (now_s - age_days * DAY_S,) * 2)
    return now_s


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def sets(place: Path) -> list[str]:
    return names(place / "runs")


def test_sets_are_kept_for_a_month_and_contents_a_day_longer(place: Path) -> None:
    add_set(place, "old", 31, "a", "b")
    now_s = add_set(place, "new", 20, "b", "c")
    (place / "runs" / "strange").write_text("not a set")
    root = Root(str(place.parent))
    carried.sweep(root, now_s)
    assert sets(place) == ["new", "strange"]
    assert names(place / "contents") == ["a", "b", "c"], "a submission may be about to use it"
    carried.sweep(root, now_s + 2 * DAY_S)
    assert names(place / "contents") == ["b", "c"]


def test_beyond_the_bound_the_oldest_sets_go_but_none_of_today(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_set(place, "oldest", 3, "a")
    add_set(place, "older", 2, "b")
    now_s = add_set(place, "today", 0.5, "c", "d")
    monkeypatch.setattr(carried, "BYTES_MAX", 30)
    carried.sweep(Root(str(place.parent)), now_s)
    assert sets(place) == ["older", "today"]
    monkeypatch.setattr(carried, "BYTES_MAX", 0)
    carried.sweep(Root(str(place.parent)), now_s)
    assert sets(place) == ["today"]


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine/contents").mkdir(parents=True)
    (tmp_path / "mine/runs").mkdir()
    add_set(tmp_path / "mine", "set", 99, "a")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/.zoe-files").symlink_to("../mine")
    carried.sweep(Root(str(tmp_path / "root")), 1e12)
    assert sets(tmp_path / "mine") == ["set"]
