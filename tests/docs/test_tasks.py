"""The table of tasks: each command and each call in it is valid, and no task needs a document written by hand."""

from __future__ import annotations

import ast
import re
import shlex

import pytest

from tests.docs.documents import DOCS
from tests.docs.test_page_commands import refusal
from zoe_client import Client, wire
from zoe_client.documents import settings
from zoe_client.running.handles import ExecutionHandle
from zoe_client.vocabulary import ShareLevel

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (DOCS / "use/tasks.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| task ")
]
TASKS = {row[0].strip("| "): row for row in ROWS}
STEPS_MAX = 3


def steps(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_table_has_all_tasks() -> None:
    assert list(TASKS) == [
        "start a notebook, or return to it",
        "run my script with my file and my packages", "with a secret and variables", "as an array",
        "every night", "as a pipeline", "share", "open a shell", "see why it waits", "get the result",
        "do it again with a change",
    ]  # fmt: skip
    assert {len(row) for row in ROWS} == {4}


@pytest.mark.parametrize("task", TASKS)
def test_each_command_is_valid(task: str) -> None:
    commands = steps(TASKS[task][2])
    assert 1 <= len(commands) <= STEPS_MAX
    for line in commands:
        plain = re.sub(r"^\w+=\$\((.*)\)$", r"\1", line).partition(" > ")[0]
        program, *words = shlex.split(plain)
        assert (program, refusal(words)) == ("zoe", "")


@pytest.mark.parametrize("task", TASKS)
def test_each_call_exists(task: str) -> None:
    calls = steps(TASKS[task][3])
    assert 1 <= len(calls) <= STEPS_MAX
    with Client("http://127.0.0.1:1", "token") as client:
        run = ExecutionHandle.__new__(ExecutionHandle)
        known = {"client": client, "run": run, "first": run, "wire": wire}
        for call in calls:
            for node in ast.walk(ast.parse(call)):
                if isinstance(node, ast.Attribute) and (path := dotted(node)) and path[0] in ("client",):
                    target: object = known[path[0]]
                    for name in path[1:]:
                        assert hasattr(target, name), ".".join(path)
                        target = getattr(target, name)


def dotted(node: ast.expr) -> list[str]:
    """Return the names in `a.b.c`; none for others."""
    if isinstance(node, ast.Name):
        return [node.id]
    above = dotted(node.value) if isinstance(node, ast.Attribute) else []
    return [*above, node.attr] if isinstance(node, ast.Attribute) and above else []


def test_models_and_names_of_calls_are_there() -> None:
    assert wire.ScheduleRequest(expression="30 2 * * *", document={}).zone == "UTC"
    assert wire.TerminalOpening(command=["sh"])
    assert (ShareLevel.LOOK, callable(settings.set_values)) == ("look", True)
