"""Room that must stay free on a node for bookings, compared with a count second by second."""

from __future__ import annotations

import math
import random

from zoe_lib.domain.values.resources import NOTHING, Resources
from zoe_master.scheduler.booking.bookings import CAUTION, Booking, BookingRoom, pessimistic_end

INDEX = {"a": 0, "b": 1}


def milli(cores: int) -> Resources:
    return Resources(cores * 1000, cores)


def room(*bookings: Booking, leaving: tuple[tuple[float, int, Resources], ...] = ()) -> BookingRoom:
    return BookingRoom(bookings, INDEX, leaving)


def some_booking(chance: random.Random, name: str) -> Booking:
    begins_s = float(chance.randint(0, 40))
    return Booking(name, begins_s, begins_s + chance.randint(1, 30), (("a", milli(chance.randint(1, 4))),))


def test_it_is_what_a_count_second_by_second_finds() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        bookings = tuple(some_booking(chance, f"x{n}") for n in range(chance.randint(1, 6)))
        ends = [float(chance.randint(0, 60)) for _ in range(chance.randint(0, 4))]
        leaving = tuple((ends_s, 0, milli(chance.randint(1, 3))) for ends_s in ends)
        found = room(*bookings, leaving=leaving)
        begins_s, until_s = float(chance.randint(0, 30)), float(chance.randint(31, 80))
        worst = 0
        for tenth in range(int(begins_s * 10), int(until_s * 10)):
            at_s = tenth / 10
            kept = sum(
                booking.places[0][1].cores_milli for booking in bookings if booking.begins_s <= at_s < booking.ends_s
            )
            freed = sum(amount.cores_milli for ends_s, _, amount in leaving if ends_s <= at_s)
            worst = max(worst, kept - freed)
        assert found.shortfall(0, begins_s, until_s).cores_milli == worst, seed
        assert found.shortfall(1, begins_s, until_s) == NOTHING


def test_own_dropped_and_ignored_bookings_are_in_nobodys_way() -> None:
    one = Booking("x", 10.0, 20.0, (("a", milli(4)),))
    other = Booking("y", 10.0, 20.0, (("a", milli(1)),))
    found = room(one, other)
    assert found.shortfall(0, 0.0, 100.0) == milli(5)
    found.set_apart("x")
    assert found.shortfall(0, 0.0, 100.0) == milli(1)
    assert found.with_returned({0: milli(1)}).shortfall(0, 0.0, 100.0) == NOTHING, "a twin sees the same"
    found.set_apart(None)
    with found.ignore_all():
        assert found.shortfall(0, 0.0, 100.0) == NOTHING
    found.drop("y")
    assert found.shortfall(0, 0.0, 100.0) == milli(4)
    assert found.nodes_with_room([0, 1], milli(5), 0.0, 100.0, lambda _: milli(8)) == [1]
    assert found.nodes_with_room([0, 1], milli(5), 0.0, 9.0, lambda _: milli(8)) == [0, 1], "it has left by then"


def test_times_are_rounded_to_the_safe_side() -> None:
    for seconds in (0.1, 1.0, 7.0, 3600.0, 1e7):
        until_s = pessimistic_end(100.0, 100.0 + seconds)
        assert CAUTION * seconds <= until_s - 100.0 <= CAUTION * seconds * 1.25 + 1e-6
    assert pessimistic_end(100.0, math.inf) == math.inf
    assert pessimistic_end(100.0, 100.0) == 100.0
