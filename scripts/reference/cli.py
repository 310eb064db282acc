"""Generate docs/reference/cli.md from the typer application."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from scripts.reference.tables import page, table
from zoe_cli.exits import MEANINGS
from zoe_cli.main import app
from zoe_cli.registry import usage_of

INTRODUCTION = """\
`zoe` connects to one Zoe over HTTP. Results go to standard output, notes and errors to standard error. With `-o json`
or `-o yaml`, standard output is exactly one document, of `storage top --watch` one a line; with `-o name`, it has one
name per line. `-o` may stand before or after the command. `NO_COLOR` and pipes switch colours off. `zoe completion
bash` prints a completion script.
"""
AFTER_CODES = """\
Commands on several executions continue after a refusal, and exit with the first code that is not 0. `wait`,
`run --wait` and `logs -f` retry for up to 30 s if the server does not answer; with `--patience`, every command does.
"""


def cli_page() -> str:
    """Return the page."""
    root = typer.main.get_command(app)
    codes = table(("code", "meaning"), [(int(code), text) for code, text in MEANINGS.items()])
    parts = [INTRODUCTION, "## Exit codes\n", codes, AFTER_CODES, "## Global options\n", _options(root)]
    for words, command in commands(root):
        parts += _command(words, command)
    return page("The command line", "the application in `zoe_cli`", *parts)


def commands(group: Any, before: str = "zoe") -> Iterator[tuple[str, Any]]:
    """Return every command with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before} {name}")
        else:
            yield f"{before} {name}", command


def _command(words: str, command: Any) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join([words, "[OPTIONS]", *map(usage_of, arguments)])
    yield f"## {words}\n"
    yield f"    {usage}\n"
    yield f"{command.help}\n"
    yield _options(command)
    if command.epilog:
        lines = [line.strip() for line in command.epilog.split("\n\n")[1:]]
        yield "```sh\n" + "".join(f"{line}\n" for line in lines) + "```\n"


def _options(command: Any) -> str:
    context = typer.Context(command)
    records = [parameter.get_help_record(context) for parameter in command.params]
    rows = [(f"`{_plain_types(names)}`", text.replace("  [", " [")) for names, text in filter(None, records)]
    return table(("option or argument", "meaning"), rows) if rows else ""


def _plain_types(names: str) -> str:
    """Return typer's notation of types as manuals write it."""
    names = re.sub(r"<list\[(.*)\]>", r"<\1>", names)
    for kind, word in (("str", "TEXT"), ("int( range)?", "NUMBER"), ("float( range)?", "NUMBER"), ("path", "PATH")):
        names = re.sub(f"<{kind}>", word, names)
    return re.sub(r"^([A-Z=]+) (TEXT|PATH)$", r"\1", names)
