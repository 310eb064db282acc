"""Packing places every service where a plain search over all nodes would."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from tests.support.scheduling import GIB, component
from zoe_lib.domain.applications.exact_packing import Allowed, Group, PlacementShortage, StepBudget, pack_exactly
from zoe_lib.domain.applications.packing import NodeFit, pack, pack_by_any_method
from zoe_lib.domain.values.resources import Resources


def plainly(
    groups: Sequence[Group], free: Mapping[str, Resources], allowed: Allowed, fit: NodeFit
) -> list[list[str]] | None:
    """One service after the other, largest first, each on the best of all nodes."""
    left = dict(free)
    packed: list[list[str]] = [[] for _ in groups]

    def size(position: int) -> tuple[int, int, int, str]:
        one = groups[position][0]
        wanted = one.reservation
        return sum(wanted.devices.values()), wanted.memory_bytes, wanted.cores_milli, one.name

    for position in sorted(range(len(groups)), key=size, reverse=True):
        one, count = groups[position]
        for _ in range(count):
            fitting = [name for name in left if allowed(one, name) and one.reservation.fits_in(left[name])]
            if not fitting:
                return None
            chosen = min(fitting, key=lambda name: (fit * left[name].memory_bytes, fit * left[name].cores_milli, name))
            left[chosen] = left[chosen] - one.reservation
            packed[position].append(chosen)
    return packed


@pytest.mark.parametrize("fit", NodeFit)
def test_services_go_where_a_plain_search_puts_them(fit: NodeFit) -> None:
    packed = 0
    for seed in range(400):
        draw = random.Random(seed)
        free = {
            f"n{i}": Resources(draw.randint(-1, 8) * 1000, draw.randint(-1, 8) * GIB, {"gpu": draw.randint(0, 2)})
            for i in range(draw.randint(1, 6))
        }
        groups = [
            (
                component(
                    f"c{i}",
                    cores=draw.choice([0, 0.5, 1, 2, 3]),
                    memory_gib=draw.choice([0, 0.5, 1, 2, 3]),
                    devices={"gpu": 1} if draw.random() < 0.2 else {},
                ),
                draw.randint(1, 4),
            )
            for i in range(draw.randint(1, 4))
        ]
        refused = {(component.name, name) for component, _ in groups for name in free if draw.random() < 0.2}
        allowed: Allowed = lambda entry, name, refused=refused: (entry.name, name) not in refused  # type: ignore[misc] # noqa: E731
        expected = plainly(groups, free, allowed, fit)
        assert pack(groups, free, allowed, fit) == expected, f"seed {seed}"
        packed += expected is not None
    assert 40 < packed < 360


def test_components_with_the_fewest_allowed_nodes_are_placed_first() -> None:
    free = {"a": Resources(8000, 8 * GIB), "b": Resources(8000, 8 * GIB)}
    small = component("small", 4, 4, labels=(("disk", "ssd"),))
    for ssd in free:
        groups = [(component("large", 8, 8), 1), (small, 1)]
        allowed: Allowed = lambda entry, name, ssd=ssd: not entry.labels or name == ssd  # type: ignore[misc] # noqa: E731
        assert pack(groups, free, allowed, NodeFit.BEST) == [[name for name in free if name != ssd], [ssd]]


def test_a_search_that_is_cut_short_says_that_nothing_is_shown() -> None:
    free = {name: Resources(10_000, 10 * GIB) for name in "abc"}
    groups = [(component("x", 5, 5), 2), (component("y", 4, 4), 2), (component("z", 3, 3), 4)]
    steps = StepBudget(30)
    assert pack_by_any_method(groups, free, lambda *_: True, steps) is PlacementShortage.NOT_SHOWN
    assert steps.left <= 0
    found = pack_by_any_method(groups, free, lambda *_: True, StepBudget())
    assert isinstance(found, list)
    assert [len(names) for names in found] == [2, 2, 4]
    too_many = [*groups, (component("w", 1, 1), 1)]
    assert pack_by_any_method(too_many, free, lambda *_: True, StepBudget()) is PlacementShortage.PROVEN


def test_more_pairs_than_steps_are_not_even_looked_at() -> None:
    free = {f"n{i}": Resources(1000, GIB) for i in range(20)}
    groups = [(component(f"c{i}", 1, 1), 1) for i in range(21)]
    assert pack_exactly(groups, free, lambda *_: pytest.fail("a look"), StepBudget(400)) is PlacementShortage.NOT_SHOWN
