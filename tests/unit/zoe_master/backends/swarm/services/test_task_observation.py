"""Interpretation of engines' and managers' reports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zoe_lib.domain.applications.application import Probe, ProbeKind
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import Observation, ObservedState
from zoe_master.backends.engine.daemon.container_facts import ContainerFacts, container_facts, end_container, seconds
from zoe_master.backends.engine.services.service_files import Mark, ServiceFiles
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.swarm.facts import TaskFacts
from zoe_master.backends.swarm.services.task_observation import by_task, observe_task
from zoe_master.backends.swarm.services.task_records import TaskRecord

RUNNING = ContainerFacts("c" * 64, "e.c.0.1", "task", True, 100.0)
TASK = TaskFacts("task", "group", 1, "running", "running", 101.0, "c" * 64, None, "")
PROBE = Probe(ProbeKind.TCP, "web", timeout_s=5.0)


def record(**changes: object) -> TaskRecord:
    first = Observation("e.c.0.1", "e", ObservedState.STARTING, 90.0, "n1")
    made = TaskRecord(
        "e.c.0.1",
        Attempt("e", 1),
        "lab",
        "n1",
        "c-0",
        90.0,
        None,
        10.0,
        {"web": 80},
        Mark(),
        first,
        container=RUNNING,
        task=TASK,
    )
    return replace(made, **changes)


def over(exit_code: int, **changes: object) -> ContainerFacts:
    return replace(RUNNING, running=False, finished_at_s=110.0, exit_code=exit_code, **changes)


def test_a_probe_stands_between_started_and_ready() -> None:
    assert observe_task(record(container=None)).state is ObservedState.STARTING
    assert observe_task(record()).state is ObservedState.READY
    assert observe_task(record(probe=PROBE)).state is ObservedState.STARTED
    ready = observe_task(record(probe=PROBE, mark=Mark(ready_at_s=103.0)))
    assert (ready.state, ready.at_s, ready.started_at_s) == (ObservedState.READY, 103.0, 100.0)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"container": over(0)}, Cause.EXITED),
        ({"container": over(137)}, Cause.EXITED),
        ({"container": over(137, out_of_memory=True)}, Cause.OUT_OF_MEMORY),
        ({"container": over(0, out_of_memory=True)}, Cause.OUT_OF_MEMORY),
        ({"container": over(137, out_of_memory=True), "mark": Mark(stop_cause=Cause.STOPPED)}, Cause.STOPPED),
        ({"container": over(143), "task": replace(TASK, wanted="shutdown")}, Cause.STOPPED),
        ({"container": over(143), "task": replace(TASK, wanted="shutdown", state="shutdown")}, Cause.STOPPED),
        ({"container": over(137), "task": replace(TASK, wanted="shutdown", state="failed")}, Cause.EXITED),
        (
            {"container": over(137, signals=frozenset({9})), "task": replace(TASK, wanted="shutdown", state="failed")},
            Cause.KILLED,
        ),
        ({"container": over(137), "gap": True}, Cause.KILLED),
        ({"container": over(3), "gap": True}, Cause.EXITED),
        ({"container": over(143), "probe": PROBE, "mark": Mark(stop_cause=Cause.NEVER_READY)}, Cause.NEVER_READY),
        ({"container": replace(over(128), started_at_s=None)}, Cause.START_FAILED),
        (
            {"container": replace(over(128), started_at_s=None, error="remount x: device or resource busy")},
            Cause.ENGINE_FAULT,
        ),
    ],
)
def test_ends_are_told_apart(changes: dict[str, object], cause: Cause) -> None:
    seen = observe_task(record(**changes))
    assert (seen.state, seen.cause) == (ObservedState.ENDED, cause)


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("assigned node no longer meets constraints", Cause.ENGINE_FAULT),
        ("No such image: zoe/x:latest", Cause.IMAGE_UNAVAILABLE),
        ("invalid mount config", Cause.START_FAILED),
        ("starting container failed: unable to remount dir as readonly: device or resource busy", Cause.ENGINE_FAULT),
        ("failed to create task: Context deadline exceeded: unknown", Cause.ENGINE_FAULT),
        (
            "failed to create symlink: symlink busybox /var/lib/docker/volumes/zoe-1-data/_data/[: file exists",
            Cause.ENGINE_FAULT,
        ),
        ("mkdir /srv/data: file exists", Cause.START_FAILED),
    ],
)
def test_a_rejected_task_never_ran(message: str, cause: Cause) -> None:
    rejected = replace(TASK, state="rejected", message=message, container_id="")
    seen = observe_task(record(container=None, task=rejected))
    assert (seen.cause, seen.exit_code, seen.started_at_s) == (cause, None, None)
    assert message in f"{seen.message} {seen.detail}"


def test_the_managers_list_may_be_ahead_of_the_engines_events() -> None:
    complete = replace(TASK, state="complete", exit_code=0)
    assert observe_task(record(container=None, task=complete)).state is ObservedState.STARTING


def test_a_container_that_cannot_be_started_has_ended() -> None:
    tags = {labels.TASK_NAME: "zoe-c.1.x", labels.TASK_ID: "task", labels.SERVICES: "e.c.0.1"}
    never = "0001-01-01T00:00:00Z"
    state = {"Running": False, "Status": "created", "StartedAt": never, "FinishedAt": never, "ExitCode": 127}
    about = {"Id": "c" * 64, "Config": {"Labels": tags}, "NetworkSettings": {}}
    waiting = container_facts({**about, "State": {**state, "Error": "", "OOMKilled": False}})
    failed = container_facts({**about, "State": {**state, "Error": "exec: no such file", "OOMKilled": False}})
    assert observe_task(record(container=waiting)).state is ObservedState.STARTING
    seen = observe_task(record(container=failed))
    assert (seen.cause, seen.started_at_s) == (Cause.START_FAILED, None)
    assert "exec: no such file" in seen.message


def test_an_end_is_taken_from_its_event_unless_it_was_killed() -> None:
    seen = observe_task(record(container=end_container(RUNNING, 3, 110.0)))
    assert (seen.state, seen.cause, seen.exit_code, seen.at_s) == (ObservedState.ENDED, Cause.EXITED, 3, 110.0)
    assert end_container(RUNNING, 137, 110.0) is None
    at_once = end_container(RUNNING, 0, 99.9)  # the engine may report the start after the end of a short life
    assert at_once is not None
    assert at_once.finished_at_s == RUNNING.started_at_s


def test_without_its_engine_the_managers_word_counts_and_says_so() -> None:
    seen = by_task(record(), replace(TASK, state="failed", exit_code=137))
    assert (seen.exit_code, seen.cause) == (137, Cause.EXITED)
    assert "does not answer" in seen.message
    done = by_task(record(), replace(TASK, state="complete", exit_code=0))
    assert (done.exit_code, done.cause, done.message) == (0, Cause.EXITED, "")


def test_an_end_is_for_good(tmp_path: object) -> None:
    end = observe_task(record(container=over(7)))
    assert observe_task(record(mark=Mark(end=end), container=RUNNING)) == end


def test_marks_are_read_as_they_were_written(tmp_path: object) -> None:
    marks = ServiceFiles(tmp_path)  # type: ignore[arg-type]
    mark = Mark(1.5, 2.5, Cause.STOPPED, observe_task(record(container=over(7))), forgotten=True)
    marks.write("e/../x.0.1", mark)
    assert marks.read("e/../x.0.1") == mark
    assert list(marks.marks()) == [("e/../x.0.1", mark)]
    marks.prune(0, 1e9)
    assert marks.read("e/../x.0.1") is None


def test_engine_times_have_nine_decimals_or_none() -> None:
    assert seconds("1970-01-01T00:01:40.123456789Z") == pytest.approx(100.123456789)
    assert seconds("1970-01-01T00:01:40Z") == 100
    assert seconds("0001-01-01T00:00:00Z") is None


@pytest.mark.parametrize(("exit_code", "cause"), [(143, Cause.KILLED), (137, Cause.EXITED), (1, Cause.EXITED)])
def test_service_ended_by_a_restarting_engine_counts_as_killed(exit_code: int, cause: Cause) -> None:
    assert by_task(record(), replace(TASK, state="failed", exit_code=exit_code)).cause is cause
