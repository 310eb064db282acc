"""The help of the command line: groups of commands, everyday options first, and hints for options of others."""

from __future__ import annotations

import re
from typing import Any

import pytest
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


def test_a_role_needs_a_tenant() -> None:
    assert "--tenant" in printed("admin", "user", "add", "ada", "--role", "admin")
