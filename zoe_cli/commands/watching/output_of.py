"""logs: output of services."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Annotated, cast

import typer

from zoe_cli.commands.watching.notes.waiting import WaitingNote
from zoe_cli.commands.words.arguments import Id
from zoe_cli.commands.words.views import note_left_files, slower_ways
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit_data, note, show_output, write
from zoe_cli.registry import add
from zoe_client import Client
from zoe_client.errors import NotFound
from zoe_client.quick.plain import Execution
from zoe_client.vocabulary import ExecutionState
from zoe_client.wire import ExecutionView, ServiceView

_EXAMPLES = (
    "zoe logs x1m7xhnzn3f4144",
    "zoe logs x1m7xhnzn3f4144 spark-worker-1 --tail 20",
    "zoe logs -f ID driver",
    "zoe logs ID -o json",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "logs", logs, _EXAMPLES)


def logs(
    context: typer.Context,
    execution_id: Id,
    service: Annotated[
        str | None,
        typer.Argument(
            metavar="SERVICE",
            help="Service such as worker-0, or a component (default: the one that ends the application).",
        ),
    ] = None,
    following: Annotated[bool, typer.Option("--follow", "-f", help="Continue until the execution has ended.")] = False,
    tail: Annotated[
        int | None, typer.Option("--tail", "-n", min=0, help="Print only this many of the last lines.")
    ] = None,
) -> None:
    """Print the output of a service, standard output and error together, also after its end.

    On a terminal, control sequences other than colours are shown as text; files and pipes get every byte unchanged.
    With -f, the output of the next attempt follows after a retry. With -o json or yaml, one document holds the
    service's id and its output as text, with -f once the execution has ended; -o name prints only the id.
    """
    with options(context).client() as client:
        execution = client.execution(execution_id)
    chosen = choose(execution, service, following)
    if options(context).output is not Format.TABLE:
        _as_document(context, execution, chosen, following, tail)
        return
    if following and tail is None:
        with options(context).following() as client:
            WaitingNote(lambda: _plain(client, execution_id), lambda: client).tell()
            follow(client, execution_id, chosen.id)
            note_left_files(_plain(client, execution_id))
        return
    with options(context).client() as client:
        data, offset = _read_of(client, execution, chosen)
        if not data and not following and execution.state in (ExecutionState.SUBMITTED, ExecutionState.QUEUED):
            why = "" if execution.reason is None else f": {execution.reason.sentence}"
            note(f"{execution.id} is {execution.state.value}, so there is no output yet{why}")
        elif not data and not following:
            note(f"note: {chosen.name} has printed nothing")
        show_output(iter([data if tail is None else _last_lines(data, tail)]))
    if following:
        with options(context).following() as client:
            follow(client, execution_id, chosen.id, offset)
            note_left_files(_plain(client, execution_id))


def choose(execution: ExecutionView, name: str | None, following: bool = False) -> ServiceView:
    """Return the newest attempt of the service with this name, id or component; by default, of the main service.

    Without --follow, return the newest started attempt, as others have no output.
    """
    name_wanted = name or _ending_component(execution)
    services = [s for s in execution.services if name_wanted in (s.id, s.name, f"{s.component}/{s.index}", s.component)]
    if not services:
        names = ", ".join(dict.fromkeys(s.name for s in execution.services))
        note(f"zoe: execution {execution.id} has no service {name_wanted}; it has {names}")
        raise typer.Exit(Exit.NOT_FOUND)
    return max(services, key=lambda s: (following or s.started_at_s is not None, s.attempt, -s.index))


def _read_of(client: Client, execution: ExecutionView, service: ServiceView) -> tuple[bytes, int]:
    """Return all output of a service so far, and its end offset; exit if it ended before it started, without output.

    Preparation of a service, such as the installation of packages, prints before it starts.
    """
    never = service.ended_at_s is not None and service.started_at_s is None
    try:
        data, offset = _read(client, execution.id, service.id)
    except NotFound:
        if not never:
            raise
        data, offset = b"", 0
    if never and not data:
        why = service.message or execution.message
        note(f"zoe: {service.name} never started, so there is no output" + (f": {why}" if why else ""))
        raise typer.Exit(Exit.NOT_FOUND)
    return data, offset


def _as_document(
    context: typer.Context, execution: ExecutionView, service: ServiceView, following: bool, tail: int | None
) -> None:
    form, service_id, data = options(context).output, service.id, b""
    if form is Format.NAME:
        write(f"{service_id}\n")
        return
    if following:
        with options(context).following() as client:
            data = b"".join(_all_attempts(client, execution.id, service_id, 0))
    else:
        with options(context).client() as client:
            data, _ = _read_of(client, execution, service)
    shown = data if tail is None else _last_lines(data, tail)
    emit_data({"service": service_id, "output": shown.decode("utf-8", "replace")}, form)


def follow(client: Client, execution_id: str, service_id: str, offset: int = 0) -> None:
    """Print the output of a service and of its next attempts until the execution has ended."""
    show_output(_all_attempts(client, execution_id, service_id, offset))


def _all_attempts(client: Client, execution_id: str, service_id: str, offset: int) -> Iterator[bytes]:
    yield from _one_attempt(client, execution_id, service_id, offset)
    while following := client.next_attempt(execution_id, service_id):
        note(f"note: {following.name} is being retried; the output of attempt {following.attempt} follows")
        service_id = following.id
        yield from _one_attempt(client, execution_id, service_id)


def _one_attempt(client: Client, execution_id: str, service_id: str, offset: int = 0) -> Iterator[bytes]:
    """Yield the output, after a note if the execution may be slower than possible."""
    said = False
    for piece in client.follow_logs(execution_id, service_id, offset):
        if not said:
            said = True
            for text in slower_ways(_plain(client, execution_id)):
                note(f"note: {text}")
        yield piece


def _plain(client: Client, execution_id: str) -> Execution:
    return cast(Execution, client.execution(execution_id).model_dump(mode="json"))


def _ending_component(execution: ExecutionView) -> str:
    components = execution.description.get("components", [])
    ending = [str(c["name"]) for c in components if c.get("ends_application")]
    return ending[0] if ending else execution.services[0].component


def _read(client: Client, execution_id: str, service_id: str) -> tuple[bytes, int]:
    """Return all output so far, and its end offset."""
    data, offset = b"", 0
    while True:
        chunk = client.logs(execution_id, service_id, offset)
        if chunk.dropped_bytes:
            least = "at least " if chunk.dropped_at_least else ""
            note(f"note: {least}{chunk.dropped_bytes} bytes are no longer kept")
        data += base64.b64decode(chunk.data)
        if chunk.next_offset == offset or chunk.complete:
            return data, chunk.next_offset
        offset = chunk.next_offset


def _last_lines(data: bytes, count: int) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(lines[len(lines) - min(count, len(lines)) :])
