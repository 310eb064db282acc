"""Samples of executions: average cores, and only without losses on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark, new_services
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, InputRead, StorageDemand, StorageObject
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.run_times.samples import sample_of, setting_of, through_views
from zoe_lib.run_times.values import RunSetting

WORK = application(
    component(name="driver", essential=1, total=1, reservation=Resources(500, 1)),
    component(name="worker", essential=1, total=4, reservation=Resources(2000, 1)),
)


def ended(**changes: object) -> Execution:
    services = []
    for service in new_services("x", WORK, 1):
        began_s = 20.0 if service.component == "driver" or service.index == 0 else 20.0 + 20.0 * service.index
        services.append(replace(service, ready_at_s=began_s, ended_at_s=120.0))
    marks = {Mark.PLACED: 10.0, Mark.READY: 20.0, Mark.ENDED: 120.0}
    given: dict[str, object] = {"state": ExecutionState.SUCCEEDED, "marks": marks, "services": tuple(services)}
    return replace(execution(), **({"application": WORK} | given | changes))  # type: ignore[arg-type]


def test_a_run_teaches_with_the_cores_that_it_had_on_average() -> None:
    sample = sample_of(ended())
    assert sample is not None
    # Workers for 100, 80, 60 and 40 of 100 seconds.
    assert sample.setting.cores == pytest.approx(2 * 2.8)
    assert (sample.start_s, sample.work_s) == (10.0, 100.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": ExecutionState.FAILED},
        {"state": ExecutionState.CANCELLED},
        {"attempt": 2},
        {"marks": {Mark.ENDED: 3.0}},
    ],
)
def test_failed_or_disturbed_execution_gives_no_sample(changes: dict[str, object]) -> None:
    assert sample_of(ended(**changes)) is None


def test_a_clock_that_was_set_back_teaches_nothing() -> None:
    marks = {Mark.PLACED: 100.0, Mark.READY: 120.0, Mark.ENDED: 50.0}
    assert sample_of(ended(marks=marks)) is None


def test_elastic_services_count_in_the_order_in_which_they_start() -> None:
    assert setting_of(WORK) == RunSetting(8.0)
    assert [setting_of(WORK, number).cores for number in (0, 1, 3, 9)] == [2.0, 4.0, 8.0, 8.0]
    assert setting_of(application(component(reservation=Resources(1500, 1)))).cores == 1.5


def test_the_end_of_the_program_counts_not_when_it_was_noted() -> None:
    late = sample_of(ended(marks={Mark.PLACED: 10.0, Mark.READY: 20.0, Mark.ENDED: 900.0}))
    assert late is not None
    assert late.work_s == 100.0


MOVED = StoreTransfers(3, 4_000_000, 500, transferring_s=80.0, waiting_s=420.0)


def test_transfers_give_size_rate_and_busy_share() -> None:
    sample = sample_of(ended(transfers=MOVED))
    assert sample is not None
    assert sample.setting == RunSetting(pytest.approx(5.6), 4e6, 50_000.0)
    assert sample.busy == pytest.approx(1 - 420 / 560)


def test_a_guarantee_in_force_is_kept_beside_the_rate_that_was_delivered() -> None:
    reader = replace(WORK, storage=StorageDemand(bandwidth=Bandwidth(30_000, 5)))
    marks = {Mark.PLACED: 10.0, Mark.READY: 20.0, Mark.ENDED: 120.0}
    granted = sample_of(ended(application=reader, transfers=MOVED, marks={**marks, Mark.STORAGE_GRANTED: 15.0}))
    without = sample_of(ended(application=reader, transfers=MOVED))
    assert granted is not None
    assert without is not None
    assert (granted.setting.rate, granted.setting.guaranteed) == (50_000.0, 30_000.0)
    assert (without.setting.rate, without.setting.guaranteed) == (50_000.0, None)
    assert setting_of(reader) == RunSetting(8.0, guaranteed=30_000.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"transfers": None},
        {"transfers": replace(MOVED, whole=False)},
        {
            "transfers": MOVED,
            "marks": {Mark.PLACED: 10.0, Mark.READY: 20.0, Mark.TENANT_CREDENTIAL: 11.0, Mark.ENDED: 120.0},
        },
    ],
)
def test_incomplete_transfers_give_no_size(changes: dict[str, object]) -> None:
    sample = sample_of(ended(**changes))
    assert sample is not None
    assert (sample.setting.delivered_bytes, sample.setting.rate, sample.busy) == (None, None, None)


def test_a_run_that_read_nothing_has_no_rate_and_busy_cores() -> None:
    sample = sample_of(ended(transfers=StoreTransfers(3)))
    assert sample is not None
    assert (sample.setting.delivered_bytes, sample.setting.rate, sample.busy) == (0.0, None, 1.0)


def test_how_inputs_were_read_is_known_if_all_were_read_so() -> None:
    plain, view = InputRead("a", "swift2d://a.zoe/x", share=0.25), InputRead("b", "swift2d://b.zoe/y", "v", share=0.5)
    storage = StorageDemand(inputs=(StorageObject("a", "swift2d://a.zoe/x"),))
    read = StoreTransfers(1, 50_000_000, transferring_s=2.0, waiting_s=2.0)
    for inputs, views in (((), None), ((plain,), False), ((view,), True), ((plain, view), None)):
        assert through_views(ended(inputs=inputs)) is views
        sample = sample_of(ended(inputs=inputs, transfers=read, application=replace(WORK, storage=storage)))
        assert sample is not None
        assert sample.setting.views is views
        assert sample.share == (inputs[0].share if len(inputs) == 1 else None)


def test_short_wait_for_the_store_gives_no_rate() -> None:
    """A proxy lets the first half second of a rate through at once: bytes over so short a wait say nothing."""
    short = sample_of(ended(transfers=replace(MOVED, transferring_s=4.0, waiting_s=5.0)))
    assert short is not None
    assert (short.setting.delivered_bytes, short.setting.rate) == (4e6, None)


def test_a_service_with_a_part_of_a_core_waits_as_a_whole_one() -> None:
    """Four workers of half a core that wait for 75 of 100 s are busy for a quarter of the time, not for none of it."""
    halves = application(
        component(name="driver", essential=1, total=1, reservation=Resources(500, 1)),
        component(name="worker", essential=1, total=4, reservation=Resources(500, 1)),
    )
    moved = StoreTransfers(3, 4_000_000, 0, transferring_s=75.0, waiting_s=2.8 * 75.0)
    sample = sample_of(ended(application=halves, transfers=moved))
    assert sample is not None
    assert sample.setting.cores == pytest.approx(0.5 * 2.8)
    assert sample.busy == pytest.approx(0.25)
