"""Build the timeline of an execution with all its attempts, from its marks and the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from zoe_cli.rows import Rows
from zoe_client.quick.plain import Execution
from zoe_client.vocabulary import Mark

if TYPE_CHECKING:
    from zoe_client.wire import EventView

# An execution keeps only the marks of its last attempt.
_MARKS = {
    "queued": (Mark.QUEUED,),
    "storage_granted": (Mark.STORAGE_GRANTED,),
    "start_planned": (Mark.ADMITTED, Mark.PLACED),
    "running": (Mark.READY,),
}
Step = tuple[str, float]


def steps(execution: Execution, events: Sequence[EventView] = ()) -> Rows:
    """Return each mark and requeue, and when each service started, was ready and ended: seconds since the submission,
    and since the step before. events: journal entries, if there was more than one attempt.
    """
    number = execution["attempt"]
    found: list[Step] = [("submitted", execution["submitted_at_s"]), *_earlier(events)]
    requeued_at_s = {event.at_s for event in events if event.kind == "requeued"}
    for mark, at_s in execution["marks"].items():
        if mark != Mark.QUEUED or at_s not in requeued_at_s:  # the requeue shows it
            found.append((_step_name(mark, number), at_s))
    found += _of_services(execution)
    found.sort(key=lambda step: step[1])
    rows = [("0.00", "", found[0][0])]
    for (_, before_s), (what, at_s) in pairwise(found):
        rows.append((f"{at_s - execution['submitted_at_s']:.2f}", f"+{at_s - before_s:.2f}", what))
    return Rows(("s", "since", "step"), rows)


def _earlier(events: Sequence[EventView]) -> Iterator[Step]:
    """Yield the marks of earlier attempts, and each requeue."""
    last = max((place for place, event in enumerate(events) if event.kind == "requeued"), default=-1)
    number, started_s = 1, None
    for event in events[: last + 1]:
        if event.kind == "requeued":
            number, started_s = number + 1, None
            yield f"requeued for attempt {number}", event.at_s
        elif event.kind == "service_started":
            started_s = event.at_s
        elif event.kind == "running" and started_s is not None:
            yield _step_name(Mark.STARTED, number), started_s
        yield from ((_step_name(mark, number), event.at_s) for mark in _MARKS.get(event.kind, ()))


def _step_name(mark: str, number: int) -> str:
    return mark if number == 1 or mark == Mark.ENDED else f"{mark}, attempt {number}"


def _of_services(execution: Execution) -> Iterable[Step]:
    for service in execution["services"]:
        times = (
            ("started", service["started_at_s"]),
            ("ready", service["ready_at_s"]),
            ("ended", service["ended_at_s"]),
        )
        name = service["name"] if service["attempt"] == 1 else f"{service['name']}, attempt {service['attempt']}"
        yield from ((f"{name} {what}", at_s) for what, at_s in times if at_s is not None)
