"""Files that a component left in its scratch directory, and the report on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_master.backends.local.supervisor import left_files
from zoe_master.backends.services.left_words import describe_left_files


def words(scratch: Path) -> str:
    return describe_left_files(left_files.left_files(str(scratch)))


def test_files_and_directories_are_named_with_their_sizes_the_largest_first(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"x")
    (tmp_path / "model.bin").write_bytes(b"x" * 3072)
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "part").write_bytes(b"x" * 10)
    (tmp_path / "out" / "part").write_bytes(b"x" * 10)
    assert words(tmp_path) == "model.bin (3 KiB), out/ (2 files, 20 B), small (1 B)"


def test_own_directories_and_hidden_names_are_left_out(tmp_path: Path) -> None:
    for name in (*left_files.OWN, ".cache", ".ipython"):
        (tmp_path / name).mkdir()
    assert words(tmp_path) == ""
    assert words(tmp_path / "missing") == ""


def test_the_others_are_summed_up(tmp_path: Path) -> None:
    for number in range(left_files.NAMES_MAX + 2):
        (tmp_path / f"{number:02}").write_bytes(b"x" * 5)
    told = words(tmp_path)
    assert "19 (5 B), 2 more (10 B)" in told
    assert "20 (" not in told


def test_no_link_is_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret").write_bytes(b"x" * 4096)
    scratch = tmp_path / "scratch"
    (scratch / "real").mkdir(parents=True)
    (scratch / "link").symlink_to(elsewhere)
    (scratch / "real" / "link").symlink_to(elsewhere)
    found = left_files.left_files(str(scratch))
    assert found is not None
    assert sum(entry["bytes"] for entry in found["entries"]) < 4096


def test_a_tree_without_end_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_files, "LOOKS_MAX", 5)
    for number in range(10):
        (tmp_path / "out" / f"{number}").mkdir(parents=True)
    assert words(tmp_path).endswith("not all were counted")


def test_a_deep_tree_ends_the_look(tmp_path: Path) -> None:
    (tmp_path / "/".join(["d"] * (left_files.DEPTH_MAX + 5))).mkdir(parents=True)
    assert words(tmp_path) == "d/ (0 files, 0 B), not all were counted"


def test_names_are_plain_and_bounded(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m\nb").touch()
    (tmp_path / ("n" * 200)).touch()
    told = words(tmp_path)
    assert "a?[31m?b (0 B)" in told
    assert f"{'n' * (left_files.NAME_CHARACTERS_MAX - 3)}... (0 B)" in told
