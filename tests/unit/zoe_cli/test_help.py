"""The help of the command line: groups of commands, everyday options first, and hints for options of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click
import pytest
import typer
from typer.testing import CliRunner

from zoe_cli.lazy_group import GROUPS, MODULES
from zoe_cli.main import app

EVERYDAY = [
    "--follow", "--wait", "--image", "--memory", "--cores", "--with", "--env", "--secret", "--result", "--fetch",
]  # fmt: skip


def printed(*words: str) -> str:
    done = CliRunner(env={"COLUMNS": "200", "ZOE_URL": "", "TERM": "dumb"}).invoke(app, list(words))
    return done.output


def test_the_help_lists_all_commands_in_groups() -> None:
    text = printed("--help")
    places = [text.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places)
    assert all(re.search(rf"^│ {re.escape(name)} ", text, re.MULTILINE) for name in MODULES)


def test_everyday_options_of_run_come_first() -> None:
    first, _, further = printed("run", "--help").partition("─ Further options ─")
    assert re.findall(r"^│ (--[\w-]+)", first, re.MULTILINE) == EVERYDAY
    assert "--idempotency-key" in further


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--json",), "-o json"),
        (("ls", "--json"), "-o json"),
        (("ls", "--quiet"), "-o name"),
        (("ls", "--jso"), "--jso"),
    ],
)
def test_options_of_other_command_lines_get_a_hint(words: Any, hint: str) -> None:
    assert hint in printed(*words)


@pytest.mark.parametrize(
    ("command", "hint"),
    [("squeue", "use zoe ls."), ("sacct", "use zoe history."), ("kill", "use zoe cancel."), ("lss", "zoe --help")],
)
def test_commands_of_other_command_lines_get_a_hint(command: str, hint: str) -> None:
    text = " ".join(printed(command).split())
    assert hint in text
    assert "requeue" not in text


def texts_of(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the help of a command, its options and arguments, and those of its subcommands."""
    yield command.help or ""
    yield from (str(getattr(parameter, "help", None) or "") for parameter in command.params)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from texts_of(subcommand, click.Context(subcommand, parent=context))


def test_no_text_has_brackets_that_rich_takes_for_markup() -> None:
    command = typer.main.get_command(app)
    lost = [text for text in texts_of(command, click.Context(command)) if re.search(r"\[[a-z/@]", text)]
    assert lost == []


def test_a_role_needs_a_tenant() -> None:
    assert "--tenant" in printed("admin", "user", "add", "ada", "--role", "admin")
