"""The thread that reads progress: stored readings, and isolation from hanging or lying programs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.applications import application, component, execution
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import Execution, ExecutionState, ServiceState, new_services
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressProbe, ProgressReading, reading_of
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.base import BackendError
from zoe_master.background.probe_answers import NoReading
from zoe_master.background.progress_amounts import ProgressAmounts
from zoe_master.background.progress_thread import ProgressThread
from zoe_master.loop.master import Master

TELLS = application(component(name="main", total=1, essential=1, progress=ProgressProbe(file="p")))
SPARK = application(component(name="main", total=1, essential=1, progress=ProgressProbe(spark="ui")))
Tell = Callable[[str, float], ProgressReading | None]


def running(number: int, ready_at_s: float = 0.0, told: Any = TELLS) -> Execution:
    services = tuple(
        replace(service, state=ServiceState.READY, ready_at_s=ready_at_s)
        for service in new_services(execution(number).id, told, 1)
    )
    return replace(execution(number), application=told, services=services, state=ExecutionState.RUNNING)


class _Follows:
    def __init__(self) -> None:
        self.store = MemoryStore()
        self.active: list[Execution] = []
        self.tells: dict[str, Tell] = {}
        self._thread: ProgressThread | None = None

    def begin(self) -> ProgressThread:
        for active in self.active:
            self.store.submit(one_like(active), "request", active.id)
        tick = SimpleNamespace(snapshot=SimpleNamespace(active=self.active))
        amounts = cast(ProgressAmounts, SimpleNamespace(read=self._read))
        self._thread = ProgressThread(cast(Master, SimpleNamespace(latest=tick)), self.store, amounts, interval_s=0.02)
        return self._thread

    def _read(self, _: ProgressProbe, service: str, at_s: float) -> ProgressReading | None:
        return self.tells[service.partition(".")[0]](service, at_s)

    def told(self, one: Execution) -> ExecutionProgress | None:
        return self.store.progress_of([one.id]).get(one.id)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.close()


def one_like(one: Execution) -> Execution:
    return replace(execution(), id=one.id, application=one.application)


@pytest.fixture
def follows() -> Iterator[_Follows]:
    found = _Follows()
    yield found
    found.close()


def fails(error: Exception) -> Tell:
    def tell(*_: object) -> None:
        raise error

    return tell


def test_readings_are_stored_and_lies_are_told_beside_the_last_share(follows: _Follows) -> None:
    one, calls = running(1), iter((0.1, 0.3, 0.2))
    follows.active = [one]
    follows.tells[one.id] = lambda _, at_s: reading_of(at_s, next(calls, -1.0))
    thread = follows.begin()
    until(lambda: (told := follows.told(one)) is not None and told.problem == "it is negative")
    told = follows.told(one)
    assert told is not None
    assert [reading.done for reading in told.readings] == [0.1, 0.3]
    assert told.share == 0.3
    assert thread.latest()[one.id].share == 0.3


def test_one_that_hangs_or_fails_holds_up_no_other(follows: _Follows) -> None:
    hanging, failing, works = (running(number) for number in (1, 2, 3))
    spark = running(4, told=SPARK)
    go_on = threading.Event()
    follows.active = [hanging, failing, works, spark]
    follows.tells = {
        hanging.id: lambda _, at_s: reading_of(at_s, 0.5) if go_on.wait(20) else None,
        failing.id: fails(BackendError("it is not a regular file\n\x1b[31m")),
        works.id: lambda _, at_s: reading_of(at_s, 0.5),
        spark.id: lambda _, at_s: reading_of(at_s, 3, 9),
    }
    thread = follows.begin()
    try:
        until(lambda: all(follows.told(execution) is not None for execution in (failing, works, spark)))
        told = [follows.told(execution) for execution in (hanging, failing, spark)]
        assert told[0] is None
        assert told[1] is not None
        assert (told[1].share, told[1].problem) == (None, "it is not a regular file  [31m")
        assert told[2] is not None
        assert told[2].text == "3 of 9 tasks known so far"
        began_s = time.monotonic()
        thread.close()
        assert time.monotonic() - began_s < 5  # a file system that hangs is not waited for
    finally:
        go_on.set()


def test_files_that_hang_hold_up_no_port(follows: _Follows) -> None:
    """More of them than may be read at once."""
    go_on, spark = threading.Event(), running(1, told=SPARK)
    hanging = [running(number) for number in range(2, 90)]
    follows.active = [*hanging, spark]
    follows.tells = dict.fromkeys(
        (execution.id for execution in hanging), lambda *_: cast(None, go_on.wait(60) and None)
    )
    follows.tells[spark.id] = lambda _, at_s: reading_of(at_s, 3, 9)
    thread = follows.begin()
    try:
        until(lambda: (told := thread.latest().get(spark.id)) is not None and len(told.readings) > 2)
        assert [follows.told(execution) for execution in hanging] == [None] * len(hanging)
    finally:
        go_on.set()


def test_starting_program_has_no_progress_problem(follows: _Follows) -> None:
    begins, late = running(1, ready_at_s=time.time()), running(2)
    follows.active = [begins, late]
    follows.tells = dict.fromkeys((begins.id, late.id), fails(NoReading("no answer")))
    follows.begin()
    until(lambda: follows.told(late) is not None)
    assert follows.told(begins) is None


def test_a_new_leader_goes_on_with_what_is_stored_of_the_same_attempt(follows: _Follows) -> None:
    same, other = running(1), replace(running(2), attempt=2)
    follows.active = [same, other]
    follows.tells = dict.fromkeys((same.id, other.id), lambda _, at_s: reading_of(at_s, 0.5))
    for active in follows.active:
        follows.store.submit(one_like(active), "request", active.id)
        follows.store.set_progress([ExecutionProgress(active.id, 1, 5.0, (ProgressReading(5.0, 0.25),))])
    follows.begin()
    until(lambda: all(_share(follows.told(execution)) == 0.5 for execution in follows.active))
    shares = [[reading.done for reading in _readings(follows.told(execution))] for execution in (same, other)]
    assert shares[0][:2] == [0.25, 0.5]
    assert 0.25 not in shares[1]


def _share(told: ExecutionProgress | None) -> float | None:
    return told.share if told is not None else None


def _readings(told: ExecutionProgress | None) -> tuple[ProgressReading, ...]:
    return told.readings if told is not None else ()
