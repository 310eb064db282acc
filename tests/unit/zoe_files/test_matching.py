"""Results: files that match patterns, and files below folders."""

from __future__ import annotations

from pathlib import Path

from zoe_files.beneath import Root
from zoe_files.matching import matching


def paths(directory: Path, *patterns: str) -> tuple[list[str], list[str]]:
    found = matching(Root(str(directory)), [tuple(part.encode() for part in one.split("/")) for one in patterns])
    return [file["path"] for file in found["files"]], found["unmatched"]


def test_a_folder_stands_for_the_files_below_it(tmp_path: Path) -> None:
    for name in ("out/a.csv", "out/deep/er/b.csv", "out/.hidden", "other/c.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "out/latest").symlink_to("a.csv")
    (tmp_path / "out/round").symlink_to("..")
    (tmp_path / "out/away").symlink_to("/etc/passwd")
    assert paths(tmp_path, "out") == (["out/a.csv", "out/deep/er/b.csv", "out/latest"], [])
    assert paths(tmp_path, "out/*") == (["out/a.csv", "out/latest"], []), "a pattern matches files only"
    assert paths(tmp_path, "oth*", "none") == ([], ["oth*", "none"])
