from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import component, queued, started
from zoe_lib.domain.consequences import may_start
from zoe_lib.domain.events import StorageGranted
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.lifecycle import apply
from zoe_lib.domain.promises import Rates, Supply, awaits_grant, by_tenant, promises
from zoe_lib.domain.storage import Bandwidth, Guarantee, StorageDemand

REQUIRED, PREFERRED = Guarantee.REQUIRED, Guarantee.PREFERRED


def running(name: str, read: int | None, guarantee: Guarantee, tenant: str = "t", **more: int) -> Execution:
    demand = StorageDemand(bandwidth=Bandwidth(read, more.get("write"), guarantee))
    begun = started(queued(name, component(), storage=demand), "n")
    return replace(begun, tenant=tenant, marks=dict.fromkeys(begun.marks, more.get("at_s", 0)))


@pytest.mark.parametrize(
    ("wanted", "room", "fits"),
    [
        (Rates(5, 0), Rates(5, 0), True),
        (Rates(6, 0), Rates(5, 9), False),
        (Rates(0, 1), Rates(9, 0), False),
        (Rates(1, 0), Rates(1, -7), True),
    ],
)
def test_both_directions_must_have_room_but_only_where_something_is_asked(
    wanted: Rates, room: Rates, fits: bool
) -> None:
    assert wanted.fits_in(room) is fits


def test_all_that_is_required_is_promised_and_of_the_preferred_what_fits_beside_it_first_come_first_served() -> None:
    active = [
        running("late", 30, PREFERRED, at_s=3),
        running("early", 30, PREFERRED, at_s=1),
        running("required", 60, REQUIRED, at_s=2),
        running("small", 10, PREFERRED, "u", at_s=4),
        running("none", None, PREFERRED, write=200),
    ]
    promised = promises(active, Supply(Rates(100, 100)))
    assert promised == {"required": Rates(60), "early": Rates(30), "small": Rates(10)}
    assert by_tenant(active, promised) == {"t": Rates(90), "u": Rates(10)}


def test_nothing_is_preferred_to_what_is_required_even_if_the_supply_shrank() -> None:
    active = [running("required", 60, REQUIRED), running("preferred", 10, PREFERRED)]
    assert promises(active, Supply(Rates(50, 50))) == {"required": Rates(60)}


def test_what_requires_bandwidth_starts_nothing_before_it_is_granted() -> None:
    waiting = running("r", 5, REQUIRED)
    assert awaits_grant(waiting)
    assert not list(may_start(waiting, 10.0))
    granted = apply(waiting, StorageGranted(at_s=2.0, read_bytes_per_s=5))
    assert len(list(may_start(granted, 10.0))) == 1
    assert len(list(may_start(running("p", 5, PREFERRED), 10.0))) == 1
