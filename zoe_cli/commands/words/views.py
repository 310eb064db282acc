"""Show executions and their services as rows and lines."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from zoe_cli.commands.words.deadline_words import deadline_cell, deadline_words
from zoe_cli.commands.words.places import places_words
from zoe_cli.commands.words.progress_words import progress_cell, progress_words
from zoe_cli.commands.words.promise_words import promise_lines
from zoe_cli.output import note
from zoe_cli.rows import Rows
from zoe_cli.units import clock, duration, size
from zoe_client.quick.plain import Execution, Service, Summary
from zoe_client.vocabulary import ACTIVE_STATES, TERMINAL_STATES, Cause, ExecutionState, Mark
from zoe_client.words.instances import instances_words

_QUERIES_SHOWN = 10


def rows_of(executions: Sequence[Summary], with_deadline: bool = False) -> Rows:
    """Return executions as a table; with columns for deadlines and progress if any of them has one."""
    now_s = time.time()
    with_progress = any(e.get("progress") is not None for e in executions)
    with_deadline = with_deadline or any(e["deadline_s"] is not None for e in executions)
    rows = [
        (
            e["id"],
            e["name"],
            e["user"],
            e["state"],
            ready_text(e),
            duration(now_s - e["submitted_at_s"]),
            _run_time_text(e, now_s),
            *([progress_cell(e)] if with_progress else []),
            *([deadline_cell(e)] if with_deadline else []),
            _reason_code(e),
        )
        for e in executions
    ]
    more = [*(["progress"] if with_progress else []), *(["deadline"] if with_deadline else [])]
    return Rows(("id", "name", "user", "state", "ready", "age", "ran", *more, "why"), rows)


def service_rows(execution: Execution) -> Rows:
    """Return the services of an execution as a table, including earlier attempts."""
    rows = [
        (
            s["name"],
            "essential" if s["core"] else "elastic",
            s["attempt"],
            s["state"],
            s["node"],
            _service_ran(s),
            s["exit_code"],
            s["cause"] or "",
            s["message"] + (f" ({s['detail']})" if s["detail"] else ""),
        )
        for s in execution["services"]
    ]
    return Rows(("service", "kind", "try", "state", "node", "ran", "exit", "cause", "message"), rows)


def _results(execution: Execution) -> Iterator[tuple[str, str]]:
    if results := execution["description"].get("results"):
        yield "results", ", ".join(results)


def facts(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the facts about an execution, most important first."""
    yield "id", execution["id"]
    yield "name", execution["name"]
    yield "application", f"{execution['application']} ({execution['kind']})"
    yield "owner", f"{execution['user']} in {execution['tenant']}"
    yield from _jobs(execution)
    yield from _results(execution)
    yield "state", execution["state"]
    yield from instances_text(execution)
    yield from _progress(execution)
    if execution["reason"] is not None:
        yield "waits", execution["reason"]["sentence"]
        if execution["reason"]["hint"]:
            yield "hint", execution["reason"]["hint"]
    if execution["outcome"] is not None:
        cause = f", cause {execution['cause']}" if execution["cause"] else ""
        yield "outcome", execution["outcome"] + (", not needed" if is_not_needed(execution) else cause)
    if execution["exit_code"] is not None:
        yield "exit code", str(execution["exit_code"])
    if execution["message"]:
        yield "message", execution["message"]
    if execution["detail"]:
        yield "detail", execution["detail"]
    yield from (("removed", text) for text in left_files_text(execution))
    yield from _conditions(execution)
    if execution["priority"]:
        yield "priority", str(execution["priority"])
    yield from _times(execution)
    if execution["attempt"] > 1:
        yield "try", str(execution["attempt"])
    for read in execution["inputs"]:
        yield f"input {read['name']}", f"{read['uri']} ({read['why']})"
    for places in execution["places"]:
        yield f"places {places['name']}", places_words(places)
    yield from _transfer_facts(execution)
    yield from _queries(execution)
    for text in slower_ways(execution):
        yield "slower", text
    for text in execution["notes"]:
        yield "note", text


def left_files_text(execution: Execution) -> Iterator[str]:
    """Return a text on files that services left in their scratch, which is removed; empty for an older server."""
    for service in execution["services"]:
        if left := service.get("left_files"):
            yield f"scratch directory of {service['name']} with {left}; keep files in the workspace"


def note_left_files(execution: Execution) -> None:
    """Print a note on files that services left in their scratch."""
    for text in left_files_text(execution):
        note(f"note: removed the {text}")


def _jobs(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the parent job, and the submitted executions; None for an older server."""
    if (parent := execution.get("submitted_by")) is not None:
        yield "origin", f"submitted by job {parent['execution_id']}, attempt {parent['attempt']}"
    if submitted := execution.get("submitted"):
        yield "submitted", ", ".join(submitted)


def slower_ways(execution: Execution) -> Iterator[str]:
    """Return the ways in which an execution may be slower because the object store did not answer."""
    for read in execution["inputs"]:
        if read.get("unanswered"):
            yield f"input {read['name']} is read {read['why']}"
    if execution["state"] in TERMINAL_STATES or Mark.STARTED not in execution["marks"]:
        return
    if execution["storage_problem"]:
        yield f"the bandwidth that it asks for is not granted: {execution['storage_problem']}"
    if Mark.TENANT_CREDENTIAL in execution["marks"]:
        yield "it uses the credential of its tenant: none of its own came in time"


def _times(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the sentences about the deadline and the promise."""
    if execution["deadline_s"] is not None:
        deadline = execution.get("deadline")
        yield "deadline", clock(execution["deadline_s"]) if deadline is None else deadline_words(deadline)
    for line in promise_lines(execution):
        yield "promise", line


def _progress(execution: Execution) -> Iterator[tuple[str, str]]:
    if (progress := execution.get("progress")) is not None:
        yield "progress", progress_words(progress)
    if scaling := execution.get("scaling_problem"):
        yield "scaling", scaling


def instances_text(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the counts of components with elastic instances, while it has places; none from an older server."""
    if execution["state"] in (ExecutionState.STARTING, ExecutionState.RUNNING):
        for count in execution.get("instances", []):
            words = instances_words(count["given"], count["preferred"], count["total"])
            yield "instances", f"{count['component']} {words}"


def is_short_of_instances(execution: Execution) -> bool:
    """Return whether it runs with fewer than the preferred instances of a component."""
    has_places = execution["state"] in (ExecutionState.STARTING, ExecutionState.RUNNING)
    return has_places and any(count["given"] < count["preferred"] for count in execution.get("instances", []))


def _transfer_facts(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the bytes moved to and from the object store, if it uses one; never 0 for unknown amounts."""
    moved = execution["transfers"]
    if moved is None:
        started = Mark.STARTED in execution["marks"] and execution["description"].get("storage")
        yield from [("moved", "not known")] if started else []
        return
    so_far = "" if moved["final"] else f", as of {clock(moved['at_s'])}"
    least = "" if moved["whole"] else ", at least"
    words = f"{size(moved['read_bytes'])} read, {size(moved['written_bytes'])} written"
    yield "moved", f"{words} in {duration(moved['transferring_s'])} of transfers{least}{so_far}"


def _queries(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return what the newest Spark queries read; older ones are counted. None for an older server."""
    queries = execution.get("queries", [])
    if (older := len(queries) - _QUERIES_SHOWN) > 0:
        yield "queries", f"{older} before these: zoe show ID -o json"
    for query in queries[-_QUERIES_SHOWN:]:
        plainly = "".join(f"; plainly for {why}" for why in query["plainly"])
        words = f"{size(query['read_bytes'])} of {size(query['object_bytes'])} read"
        yield f"query {query['number']}", f"{words}{plainly}"


def _conditions(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the conditions that keep, or have kept, it out of the queue."""
    conditions = execution["conditions"]
    if conditions is None:
        return
    if conditions["held"] is not None:
        yield "held by", conditions["held"]
    for condition in conditions["after"]:
        how = {None: "has not ended", True: "met", False: "not met"}[condition["met"]]
        yield "runs after", f"{condition['kind']}:{condition['on']} ({how})"
    if conditions["begin_at_s"] is not None:
        yield "begins", f"{clock(conditions['begin_at_s'])} or later"


def asks_for_bandwidth(execution: Execution) -> bool:
    """Return whether it runs, and its description requests bandwidth of the object store."""
    wanted = (execution["description"].get("storage") or {}).get("bandwidth")
    return bool(wanted) and execution["state"] in ACTIVE_STATES


def timeline(execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the marks reached so far, by time, with the seconds since the submission."""
    yield "submitted", clock(execution["submitted_at_s"])
    for mark, at_s in sorted(execution["marks"].items(), key=lambda reached: reached[1]):
        yield mark, f"{clock(at_s)}  {at_s - execution['submitted_at_s']:+.2f} s"


def ready_text(execution: Summary) -> str:
    """Return ready essential services of all, and elastic ones after a plus, with the preferred number if it is not
    all; after the end, only their numbers.
    """
    parts = [
        (execution["core_ready"], execution["core_total"]),
        (execution["elastic_ready"], execution["elastic_total"]),
    ]
    over = execution["state"] in TERMINAL_STATES
    preferred = execution.get("elastic_preferred")
    more = "" if preferred is None or over else f" (preferred {preferred})"
    return "+".join(str(total) if over else f"{ready}/{total}" for ready, total in parts if total) + more


def run_s(execution: Summary, now_s: float) -> float | None:
    """Return the seconds from its placement to its end, or until now; None before the placement."""
    if Mark.PLACED not in execution["marks"]:
        return None
    if Mark.ENDED not in execution["marks"]:
        return now_s - execution["marks"][Mark.PLACED]
    ended_s: float = execution["marks"][Mark.ENDED]
    ran_s = execution.get("ran_s")  # an older server lacks it
    return ended_s - execution["marks"][Mark.PLACED] if ran_s is None else ran_s


def _run_time_text(execution: Summary, now_s: float) -> str:
    ran_s = run_s(execution, now_s)
    return "" if ran_s is None else duration(ran_s)


def _service_ran(service: Service) -> str:
    if service["started_at_s"] is None:
        return ""
    return duration((service["ended_at_s"] or time.time()) - service["started_at_s"])


def is_not_needed(execution: Summary) -> bool:
    """Return whether it was to run only if others ended otherwise, such as a step after failures."""
    return execution["state"] == ExecutionState.CANCELLED and execution["cause"] == Cause.DEPENDENCY_FAILED


def _reason_code(execution: Summary) -> str:
    if execution["reason"] is not None:
        return execution["reason"]["code"]
    if execution["cause"] is None or execution["state"] == ExecutionState.SUCCEEDED:
        return ""
    if is_not_needed(execution):
        return "not needed"
    exit_code = execution["exit_code"]
    return f"exit code {exit_code}" if execution["cause"] == Cause.EXITED and exit_code else execution["cause"]
