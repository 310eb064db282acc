"""Generate docs/reference/lifecycle.md from the domain's transition tables."""

from __future__ import annotations

from collections.abc import Collection

from scripts.reference.tables import page, table
from zoe_client.vocabulary import DeadlineCause, PromiseRisk
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import (
    PLATFORM_CAUSES,
    TERMINAL_STATES,
    Cause,
    ExecutionState,
    Mark,
    ServiceState,
)
from zoe_lib.domain.lifecycle.lifecycle import EXECUTION_TRANSITIONS, SERVICE_TRANSITIONS

INTRODUCTION = """\
An execution and its services change only by events in the journal; `apply` in `zoe_lib/domain/lifecycle/lifecycle.py`
refuses every event that the tables below do not allow, and logs the execution's history if it does.

    submitted -> queued -> starting -> running -> stopping -> succeeded | failed | cancelled
    submitted, queued -> cancelled | failed        starting -> stopping        stopping -> queued (retried)

    created -> starting -> ready -> stopping -> ended | lost                   (services; a retry adds new ones)
"""
EXECUTION_STATES = {
    ExecutionState.SUBMITTED: "stored; the master has not seen it yet, or a reason says which condition is not met",
    ExecutionState.QUEUED: "waits; a reason says for what",
    ExecutionState.STARTING: "all essential services have nodes; not all are ready",
    ExecutionState.RUNNING: "all essential services are ready",
    ExecutionState.STOPPING: "the outcome is known; what still runs is stopped",
    ExecutionState.SUCCEEDED: "ended with exit code 0, or at the time limit of an interactive application",
    ExecutionState.FAILED: "ended otherwise; cause, exit code and message say how",
    ExecutionState.CANCELLED: "ended by its user or an admin",
}
SERVICE_STATES = {
    ServiceState.CREATED: "not started; an elastic one may wait for room or for a pause after a failure",
    ServiceState.STARTING: "handed to the back-end; its process may run, but is not ready",
    ServiceState.READY: "its readiness probe succeeded, or it has none and runs",
    ServiceState.STOPPING: "asked to stop; killed after its grace period",
    ServiceState.ENDED: "its process is gone, or it was never started",
    ServiceState.LOST: "its end is unknown: its node is gone",
}
# The state that an event leads to; events that are not listed change only services or details.
EXECUTION_LEADS_TO: dict[type[ev.Event], str] = {
    ev.Submitted: "submitted",
    ev.Queued: "queued",
    ev.Held: "submitted",
    ev.StartPlanned: "starting",
    ev.Running: "running",
    ev.Stopping: "stopping",
    ev.Ended: "the outcome's",
    ev.Requeued: "queued",
    ev.Refused: "the outcome's",
}
SERVICE_LEADS_TO: dict[type[ev.Event], str] = {
    ev.ServiceStarting: "starting",
    ev.ServiceReady: "ready",
    ev.ServiceStopping: "stopping",
    ev.ServiceEnded: "ended",
    ev.ServiceLost: "lost",
}
MARKS = {
    Mark.QUEUED: "the master took it into the queue",
    Mark.ADMITTED: "the scheduler found room for all essential services",
    Mark.STORAGE_GRANTED: "the storage controller granted its bandwidth (only with one, and a storage section)",
    Mark.STORAGE_WITHDRAWN: "its bandwidth is no longer in force; replaces the previous mark until it is again",
    Mark.PLACED: "every essential service has a node",
    Mark.TENANT_CREDENTIAL: "no credential of its own came in time, so its services sign in to the store as its tenant",
    Mark.STARTED: "every essential service's process runs",
    Mark.READY: "every essential service is ready",
    Mark.IDLE_WARNED: "it was unused for as long as the policy allows (the newest warning; a use removes it)",
    Mark.OPENED: "the programs of the admin for this attempt are known (only with a prologue or an epilogue)",
    Mark.PROLOGUE_ENDED: "the prologue of the admin has ended, or there is none",
    Mark.EPILOGUE_DUE: "the epilogue of the admin has not ended; then the mark goes",
    Mark.VIEW_FAILED: "an attempt that read an input through a view failed; all later ones read plain objects",
    Mark.ENDED: "nothing of it is left",
}
CAUSES = {
    Cause.EXITED: "it exited by itself; the exit code says how",
    Cause.OUT_OF_MEMORY: "it used more memory than its limit",
    Cause.NEVER_READY: "its readiness probe did not succeed in time",
    Cause.START_FAILED: "its process could not be started; the message says why",
    Cause.IMAGE_UNAVAILABLE: "its image cannot be run here",
    Cause.PORT_TAKEN: "another program took its port first",
    Cause.NODE_LOST: "its node, or its supervisor there, is gone",
    Cause.ENGINE_FAULT: "the engine of its node could not set it up, for a temporary reason",
    Cause.STOPPED: "it was asked to end",
    Cause.KILLED: "it was killed from outside",
    Cause.TIME_LIMIT: "the time limit of the application was reached",
    Cause.IDLE: "it was unused for as long as the policy allows, and after the warning",
    Cause.CANCELLED: "a user cancelled the execution",
    Cause.CORE_ENDED: "another essential service ended first",
    Cause.PREEMPTED: "an elastic service made room for essential ones",
    Cause.NEVER_FITS: "it can never fit",
    Cause.DISK_FULL: "there was no space for its files",
    Cause.DEPENDENCY_FAILED: "an execution that it was to run after ended otherwise",
    Cause.NO_PROMISE: "it could not be promised to end by its deadline, and no offer was accepted in time",
    Cause.SCALED_DOWN: "a user asked for fewer elastic services",
    Cause.REQUEUED: "a user asked for another attempt",
    Cause.PROLOGUE_FAILED: "the prologue of the admin failed; the message has its output",
    Cause.STORAGE_UNAVAILABLE: "the storage controller did not put the bandwidth in force that it requires",
}


DEADLINE_CAUSES = {
    DeadlineCause.NOT_BEGUN: "its array began it after the deadline; `array_deadline_missed` counts it instead",
    DeadlineCause.TOO_SHORT: "there was less time than the run is expected to take",
    DeadlineCause.INPUT_LATE: "it entered the queue late: it ran after others, had a time to begin, or was held",
    DeadlineCause.NODES_LOST: "attempts were lost with their nodes, or by other failures of the platform",
    DeadlineCause.ATTEMPTS_FAILED: "attempts failed, or were requeued",
    DeadlineCause.STORE: "it waited for the bandwidth that it requires, or ran without it after it was withdrawn",
    DeadlineCause.QUEUE: "it waited in the queue",
    DeadlineCause.SLOWER: "it ran for longer than expected",
    DeadlineCause.RUN_TIME_UNKNOWN: "no run time was known, and nothing cost more time than it ran",
}


PROMISE_RISKS = {
    PromiseRisk.NO_ROOM: "it waits, and the room for it is not free in time",
    PromiseRisk.SLOWER: "it runs, and takes longer than expected",
    PromiseRisk.FAILED: "an attempt failed, and another does not end in time",
    PromiseRisk.HELD: "it is held, and does not end in time if it is released now",
    PromiseRisk.INPUT_LATE: "it runs after others that have not ended",
}


def lifecycle_page() -> str:
    """Return the page."""
    return page(
        "States, events and causes",
        "`zoe_lib/domain`",
        INTRODUCTION,
        "## States of an execution\n",
        table(("state", "meaning"), [(_terminal(s), EXECUTION_STATES[s]) for s in ExecutionState]),
        "## States of a service\n",
        table(("state", "meaning"), [(f"`{s.value}`", SERVICE_STATES[s]) for s in ServiceState]),
        "## Events: when they are legal\n",
        table(("event", "meaning", "execution is", "and becomes", "service is", "and becomes"), _events()),
        "## Marks of the timeline\n",
        table(("mark", "meaning"), [(f"`{mark.value}`", MARKS[mark]) for mark in Mark]),
        "## Causes of an end\nCauses marked * are the platform's fault: Zoe retries, as often as the policy's "
        "`start_attempts_max`\nallows, without using up the application's `retries`.\n",
        table(("cause", "meaning"), [(_platform(cause), CAUSES[cause]) for cause in Cause]),
        "## Causes of a missed deadline\nThe event has one cause, and how many seconds were lost to each. The cause is "
        "`too_short` if it holds; else the first\nbelow that alone took more than the time to spare, which is what the "
        "deadline leaves beyond the expected run time; else\nthe one that took most.\n",
        table(("cause", "meaning"), [(f"`{cause.value}`", DEADLINE_CAUSES[cause]) for cause in DeadlineCause]),
        "## Why a promise is at risk\n",
        table(("risk", "meaning"), [(f"`{risk.value}`", PROMISE_RISKS[risk]) for risk in PromiseRisk]),
    )


def _events() -> list[tuple[str, ...]]:
    return [
        (
            f"`{kind}`",
            (event.__doc__ or "").strip(),
            _states(EXECUTION_TRANSITIONS[event], ExecutionState),
            EXECUTION_LEADS_TO.get(event, ""),
            _states(SERVICE_TRANSITIONS.get(event, ()), ServiceState),
            SERVICE_LEADS_TO.get(event, ""),
        )
        for kind, event in ev.EVENT_TYPES.items()
    ]


def _states(states: Collection[object], order: type[ExecutionState] | type[ServiceState]) -> str:
    return ", ".join(state.value for state in order if state in states)


def _terminal(state: ExecutionState) -> str:
    return f"`{state.value}`" + (" (terminal)" if state in TERMINAL_STATES else "")


def _platform(cause: Cause) -> str:
    return f"`{cause.value}`" + (" *" if cause in PLATFORM_CAUSES else "")
