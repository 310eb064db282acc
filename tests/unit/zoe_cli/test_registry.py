"""The hint for an object that a command did not find."""

from __future__ import annotations

import pytest
import typer

from zoe_cli.main import command
from zoe_cli.registry import _hint_where_it_is_listed


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("storage policy rm", "`zoe storage policy ls` shows the names and ids"),
        ("storage policy cancel", "`zoe storage policy applying` lists the jobs"),
        ("storage policy apply", "`zoe ls store:SERVICE:` lists the containers of your tenant"),
        ("storage slo set", ""),
        ("cancel", "`zoe ls` lists executions, `zoe ls --help` shows how to choose among them"),
        ("plan", ""),
    ],
)
def test_it_names_the_list_of_such_objects(words: str, hint: str) -> None:
    context = typer.Context(command(), info_name="zoe")
    for word in words.split():
        found = context.command.get_command(context, word)  # type: ignore[attr-defined]
        context = typer.Context(found, parent=context, info_name=word)
    assert _hint_where_it_is_listed(context, "it does not exist") == hint
