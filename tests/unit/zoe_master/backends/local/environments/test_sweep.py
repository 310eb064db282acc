"""Sweeps of environments that nobody uses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from zoe_master.backends.local.environments.sweep import EnvironmentSweeper
from zoe_master.backends.local.settings import LocalSettings

ENVIRONMENTS, FILES = 8, 200


def environment(directory: Path) -> Path:
    """One as a build leaves it: a directory and its lock."""
    (directory / "lib").mkdir(parents=True)
    for number in range(FILES):
        (directory / "lib" / f"part{number}.py").write_text("x = 1\n")
    Path(f"{directory}.lock").touch()
    return directory


def test_sweeps_at_the_same_time_remove_each_one_and_count_it_once(tmp_path: Path) -> None:
    names = ("state_dir", "scratch_dir", "workspaces_dir", "volumes_dir", "environments_dir")
    settings = LocalSettings(**{name: tmp_path / name for name in names}, environments_bytes_max=0)
    used, *others = [environment(tmp_path / "environments_dir" / "ada" / f"{n:064x}") for n in range(ENVIRONMENTS)]
    sweeper = EnvironmentSweeper(settings)
    with ThreadPoolExecutor(4) as pool:
        counts = [future.result() for future in [pool.submit(sweeper.sweep, [used]) for _ in range(4)]]
    assert sum(counts) == len(others)
    assert sorted(path.name for path in used.parent.iterdir()) == [used.name, f"{used.name}.lock"]
