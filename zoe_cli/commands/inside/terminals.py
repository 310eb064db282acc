"""exec: run a command in a service, in a terminal or without one."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from zoe_cli.commands.inside.choosing import chosen_service
from zoe_cli.commands.words.arguments import Id
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import end_for_output, note
from zoe_cli.registry import add
from zoe_client.wire import TerminalOpening

_EXAMPLES = (
    "zoe exec x1m7xhnzn3f4144",
    "zoe exec x1m7xhnzn3f4144 worker/2 -- bash",
    "zoe exec x1m7xhnzn3f4144 -- tar c results | tar x",
    "zoe exec x1m7xhnzn3f4144 -- python3 < program.py",
)
_SHELL = ("/bin/sh", "-c", "command -v bash > /dev/null && exec bash; exec sh")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "exec", execute, _EXAMPLES, results=False, options_first=True)


def execute(
    context: typer.Context,
    execution_id: Id,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SERVICE --] COMMAND",
            help="Service such as worker, worker/2 or worker-2 (default: the one that ends the application, or the "
            "first); then, after --, the command (default: a shell).",
        ),
    ] = None,
    tty: Annotated[
        bool | None,
        typer.Option(
            "--tty/--no-tty",
            "-t/-T",
            help="Run it in a terminal (default: if standard input and output are one).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a command in a running service, as its user, with separate input, output and exit code.

    In a terminal, type Enter ~ . to leave, and Enter ~ ~ for a ~ at the start of a line. Options go before ID.
    """
    from zoe_cli import raw_terminal

    service, command = _read(words or [])
    in_terminal = (os.isatty(0) and os.isatty(1)) if tty is None else tty
    rows, columns = raw_terminal.size()
    opening = TerminalOpening(
        command=command, tty=in_terminal, rows=rows, columns=columns, term=raw_terminal.name_of_terminal()
    )
    with options(context).client() as client:
        chosen = chosen_service(client.execution(execution_id), service)
        with client.terminal(execution_id, chosen.id, opening) as terminal:
            try:
                raw_terminal.attach(terminal, in_terminal)
            except OSError as error:
                end_for_output(error)
    if terminal.exit_code is None:
        note(f"zoe: {terminal.message}")
        raise typer.Exit(Exit.CONFLICT)
    raise typer.Exit(terminal.exit_code)


def _read(words: list[str]) -> tuple[str | None, list[str]]:
    """Return the service before `--`, if given, and the command."""
    if "--" not in words[:2]:
        return None, words or list(_SHELL)
    at = words.index("--")
    return (words[0] if at else None), words[at + 1 :] or list(_SHELL)
