"""Parts run beside each other as the machine allows, and each of them runs once."""

from __future__ import annotations

import pytest

from scripts.part_schedule import PartSchedule, run_beside
from scripts.parts import PARTS, Part


def part(name: str, seconds: float, cores: float, **more: object) -> Part:
    return Part(name, (), seconds, cores, **more)  # type: ignore[arg-type]


def started(schedule: PartSchedule) -> list[str]:
    """All that may start now, in their order."""
    names = []
    while (found := schedule.start_next()) is not None:
        names.append(found.name)
    return names


def test_the_longest_starts_first_and_the_cores_bound_the_rest() -> None:
    schedule = PartSchedule([part("short", 1, 1), part("long", 9, 1), part("middle", 5, 1)], cores=2)
    assert started(schedule) == ["long", "middle"]


def test_what_waits_for_others_runs_beside_what_computes() -> None:
    waits = [part(f"waits {number}", 9, 0.3) for number in range(3)]
    assert len(started(PartSchedule([*waits, part("computes", 1, 1)], cores=2))) == 4


def test_one_part_at_a_time_has_the_engines() -> None:
    first, second = part("swarm", 9, 0.1, uses="engines"), part("compose", 5, 0.1, uses="engines")
    schedule = PartSchedule([first, second], cores=2)
    assert started(schedule) == ["swarm"]
    schedule.end(first)
    assert started(schedule) == ["compose"]


def test_rates_are_measured_alone_and_last() -> None:
    quiet, still, other = part("quiet", 9, 0.1, quiet=True), part("still", 8, 0.1, quiet=True), part("other", 1, 0.1)
    schedule = PartSchedule([quiet, still, other], cores=2)
    assert started(schedule) == ["other"]
    schedule.end(other)
    assert started(schedule) == ["quiet", "still"]


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_every_part_runs_once_on_any_machine(cores: int) -> None:
    outcomes = run_beside(PartSchedule(PARTS, cores), len(PARTS), lambda one: one.name)
    assert sorted(outcomes) == sorted(one.name for one in PARTS)


def test_a_part_that_raises_ends_the_run_and_holds_nothing() -> None:
    def work(one: Part) -> None:
        raise OSError(one.name)

    parts = [part("a", 1, 2), part("b", 1, 2)]
    with pytest.raises(OSError, match=r"[ab]"):
        run_beside(PartSchedule(parts, cores=2), len(parts), work)
