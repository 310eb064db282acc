"""Timelines with all attempts."""

from __future__ import annotations

from typing import Any, cast

from zoe_cli.commands.watching.attempt_steps import steps
from zoe_client.quick.plain import Execution
from zoe_client.wire import EventView


def execution(**values: Any) -> Execution:
    return cast(Execution, {"submitted_at_s": 100.0, "attempt": 1, "services": [], **values})


def event(kind: str, at_s: float) -> EventView:
    return EventView(id=1, kind=kind, at_s=at_s, cause_id="", execution_id="x1", version=1, data={})


def test_steps_of_the_execution_and_its_services_stand_in_their_order() -> None:
    service = {"name": "main-0", "attempt": 1, "started_at_s": 103.0, "ready_at_s": None, "ended_at_s": 109.25}
    again = {**service, "attempt": 2, "started_at_s": None, "ended_at_s": None}
    found = steps(execution(marks={"queued": 100.5, "started": 104.0, "ended": 110.0}, services=[service, again]))
    assert list(found.rows) == [
        ("0.00", "", "submitted"),
        ("0.50", "+0.50", "queued"),
        ("3.00", "+2.50", "main-0 started"),
        ("4.00", "+1.00", "started"),
        ("9.25", "+5.25", "main-0 ended"),
        ("10.00", "+0.75", "ended"),
    ]


def test_earlier_attempts_have_their_steps() -> None:
    """Marks are those of the last attempt; the journal has the others."""
    events = [
        event(kind, at_s)
        for kind, at_s in (
            ("submitted", 100.0), ("queued", 101.0), ("start_planned", 102.0), ("service_started", 102.5),
            ("running", 103.0), ("stopping", 104.0),
            ("requeued", 105.0), ("start_planned", 106.0), ("requeued", 107.0), ("queued", 108.0),
            ("start_planned", 109.0), ("running", 110.0), ("ended", 111.0),
        )
    ]  # fmt: skip
    marks = {"queued": 108.0, "placed": 109.0, "ready": 110.0, "ended": 111.0}
    found = steps(execution(attempt=3, marks=marks), events)
    assert [row[2] for row in found.rows] == [
        *("submitted", "queued", "admitted", "placed", "started", "ready"),
        *("requeued for attempt 2", "admitted, attempt 2", "placed, attempt 2"),
        *("requeued for attempt 3", "queued, attempt 3", "placed, attempt 3", "ready, attempt 3", "ended"),
    ]


def test_a_requeue_is_not_told_twice() -> None:
    found = steps(execution(attempt=2, marks={"queued": 104.0}), [event("queued", 100.5), event("requeued", 104.0)])
    assert [row[2] for row in found.rows] == ["submitted", "queued", "requeued for attempt 2"]
