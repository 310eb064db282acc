"""ls, show, wait, cancel, explain, events: what becomes of executions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import typer

from zoe_cli.context import on_terminal, options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, Rows, duration, emit, note
from zoe_lib.domain.execution import TERMINAL_STATES, ExecutionState, Mark
from zoe_lib.sdk import Client
from zoe_lib.wire import ExecutionSummary, ExecutionView

Id = Annotated[str, typer.Argument(help="Id of an execution.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ls")(ls)
    app.command("show")(show)
    app.command("wait")(wait)
    app.command("cancel")(cancel)
    app.command("explain")(explain)
    app.command("events")(events)


def ls(
    context: typer.Context,
    state: Annotated[list[ExecutionState] | None, typer.Option(help="Only this state; repeatable.")] = None,
    user: Annotated[str | None, typer.Option(help="Only this user's.")] = None,
    name: Annotated[str | None, typer.Option(help="Only names that contain this.")] = None,
    all_tenants: Annotated[bool, typer.Option("--all-tenants", help="For admins.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Continue an earlier list.")] = None,
) -> None:
    """List executions, newest first."""
    with options(context).client() as client:
        page = client.executions(
            states=state, user=user, name=name, all_tenants=all_tenants, limit=limit, cursor=cursor
        )
    emit(page, options(context).output, rows_of(page.executions))
    if page.next_cursor:
        note(f"more: --cursor {page.next_cursor}")


def show(context: typer.Context, execution_id: Id) -> None:
    """Show one execution: timeline, services, why it waits."""
    with options(context).client() as client:
        execution = client.execution(execution_id)
    form = options(context).output
    if form is not Format.TABLE:
        emit(execution, form, rows_of([execution]))
        return
    emit(execution, form, Rows(("execution", execution.id), _facts(execution)))
    print()
    emit(execution, form, _services(execution))


def wait(
    context: typer.Context,
    execution_ids: Annotated[list[str], typer.Argument(help="Ids of executions.")],
    timeout: Annotated[float | None, typer.Option(help="Give up after so many seconds (exit code 124).")] = None,
    exit_code_from_app: Annotated[
        bool, typer.Option("--exit-code-from-app", help="End with the application's own exit code.")
    ] = False,
) -> None:
    """Wait until executions have ended; 0 when all succeeded."""
    give_up_s = None if timeout is None else time.monotonic() + timeout
    ended = []
    with options(context).client() as client:
        for execution_id in execution_ids:
            left_s = None if give_up_s is None else max(give_up_s - time.monotonic(), 0.0)
            ended.append(wait_for(client, execution_id, left_s))
    form = options(context).output
    emit(
        ended[0] if len(ended) == 1 else {"executions": [e.model_dump(mode="json") for e in ended]},
        form,
        rows_of(ended),
    )
    failed = [e for e in ended if e.state is not ExecutionState.SUCCEEDED]
    if failed:
        finish(failed[0], exit_code_from_app)


def cancel(
    context: typer.Context, execution_ids: Annotated[list[str], typer.Argument(help="Ids of executions.")]
) -> None:
    """End executions."""
    with options(context).client() as client:
        cancelled = [client.cancel(execution_id) for execution_id in execution_ids]
    emit({"executions": [e.model_dump(mode="json") for e in cancelled]}, options(context).output, rows_of(cancelled))


def explain(context: typer.Context, execution_id: Id) -> None:
    """Say why an execution is not running, and what refuses it on each node."""
    with options(context).client() as client:
        answer = client.explain(execution_id)
    form = options(context).output
    if form is Format.TABLE:
        _say_why(answer.state, answer.reason.sentence if answer.reason else None, answer.ahead)
        if answer.reason and answer.reason.hint:
            print(f"hint: {answer.reason.hint}")
        if not answer.detailed:
            note("note: the master does not answer; this is what was stored last")
        if not answer.nodes:
            return
    rows = [(node, part, text) for node, parts in answer.nodes.items() for part, text in parts.items()]
    emit(answer, form, Rows(("node", "component", "refused because"), rows))


def events(context: typer.Context, execution_id: Id) -> None:
    """List what happened to an execution."""
    with options(context).client() as client:
        answer = client.events(execution_id)
    rows = [(e.id, _clock(e.at_s), e.kind, e.data.get("service_id", "")) for e in answer.events]
    emit(answer, options(context).output, Rows(("id", "at", "event", "service"), rows))


def wait_for(client: Client, execution_id: str, timeout_s: float | None) -> ExecutionView:
    """The ended execution; its states are told on the way to whoever watches."""
    if client.execution(execution_id).state in TERMINAL_STATES:
        return client.execution(execution_id)
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    for event, state in client.follow(execution_id, deadline_s=deadline_s):
        if state is not None and on_terminal():
            note(f"{_clock(event.at_s)}  {state.value}")
        elif event.kind == "reason_changed" and on_terminal():
            reason = event.data.get("reason")
            note(f"{_clock(event.at_s)}  waits: {reason.get('sentence') if isinstance(reason, dict) else ''}")
    return client.execution(execution_id)


def finish(execution: ExecutionView, exit_code_from_app: bool) -> None:
    """End this command as the application ended."""
    if execution.state is ExecutionState.SUCCEEDED:
        return
    if execution.message:
        note(f"zoe: {execution.name} {execution.state.value}: {execution.message}")
    if exit_code_from_app and execution.exit_code:
        raise typer.Exit(execution.exit_code)
    raise typer.Exit(Exit.APPLICATION_FAILED)


def rows_of(executions: Sequence[ExecutionSummary]) -> Rows:
    """Executions as a table."""
    rows = [
        (
            e.id,
            e.name,
            e.user,
            e.state.value,
            f"{e.core_ready}/{e.core_total}",
            f"{e.elastic_ready}/{e.elastic_total}",
            _age(e),
            e.reason.code
            if e.reason
            else (e.cause.value if e.cause and e.state is not ExecutionState.SUCCEEDED else ""),
        )
        for e in executions
    ]
    return Rows(("id", "name", "user", "state", "core", "elastic", "age", "why"), rows)


def _facts(execution: ExecutionView) -> list[tuple[str, object]]:
    facts: list[tuple[str, object]] = [
        ("name", execution.name),
        ("application", f"{execution.application} ({execution.kind})"),
        ("owner", f"{execution.user} in {execution.tenant}"),
        ("state", execution.state.value),
        ("attempt", execution.attempt),
        ("submitted", _clock(execution.submitted_at_s)),
    ]
    facts += [
        (mark.value, f"{_clock(execution.marks[mark])}  (+{execution.marks[mark] - execution.submitted_at_s:.2f} s)")
        for mark in Mark
        if mark in execution.marks
    ]
    if execution.outcome is not None:
        facts.append(("outcome", f"{execution.outcome.value}, cause {execution.cause and execution.cause.value}"))
        facts.append(("exit code", execution.exit_code))
    if execution.message:
        facts.append(("message", execution.message))
    if execution.reason is not None:
        facts.append(("waits", execution.reason.sentence))
    return facts + [("note", text) for text in execution.notes]


def _services(execution: ExecutionView) -> Rows:
    rows = [
        (
            s.id,
            "core" if s.core else "elastic",
            s.state.value,
            s.node,
            "" if s.exit_code is None else s.exit_code,
            s.cause.value if s.cause else "",
            s.message,
        )
        for s in execution.services
    ]
    return Rows(("service", "kind", "state", "node", "exit", "cause", "message"), rows)


def _age(execution: ExecutionSummary) -> str:
    end_s = execution.marks.get(Mark.ENDED, time.time())
    return duration(end_s - execution.submitted_at_s)


def _say_why(state: ExecutionState, sentence: str | None, ahead: int | None) -> None:
    if sentence is None:
        print(f"It does not wait: it is {state.value}.")
        return
    print(sentence)
    if ahead:
        print(f"{ahead} executions are ahead of it.")


def _clock(at_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))
