"""`make dev`: which saved files restart which processes."""

from __future__ import annotations

import os
from pathlib import Path

from scripts.dev import API, MASTER, READERS, ROOT, Changes, restarted_by


def test_changed_added_and_removed_files_are_found_once(tmp_path: Path) -> None:
    files = [tmp_path / "zoe_api" / f"{name}.py" for name in ("changed", "removed", "added")]
    files[0].parent.mkdir()
    for file in files[:2]:
        file.touch()
    changes = Changes(tmp_path)
    os.utime(files[0], (1, 1))
    files[1].unlink()
    files[2].touch()
    assert changes.next_files() == sorted(file.relative_to(tmp_path) for file in files)
    assert changes.next_files() == []


def test_shared_code_restarts_both_and_own_code_only_its_process() -> None:
    assert restarted_by([Path("zoe_lib/clock.py")]) == {API, MASTER}
    assert restarted_by([Path("zoe_master/main.py")]) == {MASTER}
    assert restarted_by([Path("zoe_api/main.py")]) == {API}


def test_every_watched_folder_exists() -> None:
    assert [folder for folder in READERS if not (ROOT / folder).is_dir()] == []
