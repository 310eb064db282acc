"""A waiting execution's user hears that their own work holds what it lacks."""

from __future__ import annotations

import pytest

from zoe_lib.domain.executions.own_use import OwnReservations, own_use
from zoe_lib.domain.values.resources import Resources

GIB = 2**30
TOTAL = Resources(2000, 8 * GIB)
MINE = {"x1": Resources(500, GIB), "x2": Resources(1500, GIB)}


@pytest.mark.parametrize(
    ("wanted", "reserved", "own", "expected"),
    [
        (Resources(1000, GIB), Resources(2000, 2 * GIB), MINE, OwnReservations(("x2", "x1"), "cores", 2.0, 2.0)),
        (
            Resources(0, 7 * GIB),
            Resources(2000, 2 * GIB),
            MINE,
            OwnReservations(("x1", "x2"), "memory", 2 * GIB, 8 * GIB),
        ),
        (Resources(1000, GIB), Resources(1000, GIB), MINE, None),  # there is room: other reasons keep it waiting
        (Resources(1000, GIB), Resources(2000, 2 * GIB), {}, None),
        (Resources(2000, GIB), Resources(2000, GIB), {"x1": Resources(500, GIB)}, None),  # others hold the rest
    ],
)
def test_own_executions_are_named_if_their_end_would_help(
    wanted: Resources, reserved: Resources, own: dict[str, Resources], expected: OwnReservations | None
) -> None:
    assert own_use(wanted, TOTAL, reserved, own) == expected
