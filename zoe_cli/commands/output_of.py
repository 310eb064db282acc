"""logs: what services print."""

from __future__ import annotations

import base64
import sys
from typing import Annotated

import typer

from zoe_cli.commands.executions import Id
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import note
from zoe_lib.sdk import Client
from zoe_lib.wire import ExecutionView, ServiceView


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("logs")(logs)


def logs(
    context: typer.Context,
    execution_id: Id,
    service: Annotated[
        str | None, typer.Argument(help="Service such as worker-0; default: the one that ends the application.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the service has ended.")] = False,
) -> None:
    """Print the output of a service, standard output and error together."""
    with options(context).client() as client:
        execution = client.execution(execution_id)
        chosen = _choose(execution, service)
        if follow:
            for piece in client.follow_logs(execution_id, chosen.id):
                _write(piece)
        else:
            _write_all(client, execution_id, chosen.id)


def _choose(execution: ExecutionView, name: str | None) -> ServiceView:
    wanted = name or _ending_component(execution)
    found = [s for s in execution.services if wanted in (s.id, s.name, s.component)]
    if not found:
        names = ", ".join(s.name for s in execution.services)
        note(f"zoe: execution {execution.id} has no service {wanted}; it has {names}")
        raise typer.Exit(Exit.NOT_FOUND)
    return max(found, key=lambda s: (s.attempt, -s.index))


def _ending_component(execution: ExecutionView) -> str:
    components = execution.description.get("components", [])
    ending = [c["name"] for c in components if c.get("ends_application")]
    return ending[0] if ending else execution.services[0].component


def _write_all(client: Client, execution_id: str, service_id: str) -> None:
    offset = 0
    while True:
        chunk = client.logs(execution_id, service_id, offset)
        if chunk.dropped_bytes and offset == 0:
            note(f"note: the first {chunk.dropped_bytes} bytes are no longer kept")
        _write(base64.b64decode(chunk.data))
        if chunk.next_offset == offset or chunk.complete:
            return
        offset = chunk.next_offset


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
