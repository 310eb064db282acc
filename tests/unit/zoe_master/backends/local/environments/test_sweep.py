"""Sweeps of unused environments."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from zoe_master.backends.local.environments.sweep import EnvironmentSweeper
from zoe_master.backends.local.settings import LocalSettings

ENVIRONMENTS, FILES = 8, 200


def without_room(tmp_path: Path) -> LocalSettings:
    names = ("state_dir", "scratch_dir", "workspaces_dir", "volumes_dir", "environments_dir")
    return LocalSettings(**{name: tmp_path / name for name in names}, environments_bytes_max=0)


def environment(directory: Path) -> Path:
    """Make an environment as a build leaves it: a directory and its lock."""
    (directory / "lib").mkdir(parents=True)
    for number in range(FILES):
        (directory / "lib" / f"part{number}.py").write_text("x = 1\n")
    Path(f"{directory}.lock").touch()
    return directory


def test_sweeps_at_the_same_time_remove_each_one_and_count_it_once(tmp_path: Path) -> None:
    used, *others = [environment(tmp_path / "environments_dir" / "ada" / f"{n:064x}") for n in range(ENVIRONMENTS)]
    sweeper = EnvironmentSweeper(without_room(tmp_path))
    with ThreadPoolExecutor(4) as pool:
        counts = [future.result() for future in [pool.submit(sweeper.sweep, lambda: [used]) for _ in range(4)]]
    assert sum(counts) == len(others)
    assert sorted(path.name for path in used.parent.iterdir()) == [used.name, f"{used.name}.lock"]


def test_environment_taken_into_use_during_a_sweep_stays(tmp_path: Path) -> None:
    there = environment(tmp_path / "environments_dir" / "ada" / f"{1:064x}")
    sweeper, sweeping, go_on = EnvironmentSweeper(without_room(tmp_path)), threading.Event(), threading.Event()
    used: set[Path] = set()

    def all_used() -> list[Path]:
        sweeping.set()
        go_on.wait()
        return [there]

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sweeper.sweep, all_used)
        sweeping.wait()
        second = pool.submit(sweeper.sweep, lambda: used)
        used.add(there)
        go_on.set()
        assert (first.result(), second.result(), there.exists()) == (0, 0, True)
