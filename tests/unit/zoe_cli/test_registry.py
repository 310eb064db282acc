"""The hint for an object that a command did not find."""

from __future__ import annotations

import pytest
import typer

from zoe_cli.main import command
from zoe_cli.registry import _hint_where_it_is_listed, name_option, name_options
from zoe_client.errors import InvalidDescription
from zoe_client.wire import Diagnostic, Problem


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


@pytest.mark.parametrize(
    ("words", "pointer", "shown"),
    [
        ("run s.py --memory 900TiB", "/components/0/resources/memory", "--memory"),
        ("run s.py --cores 1", "/components/0/resources/memory", "/components/0/resources/memory"),
        ("run s.py --priority 9999", "/body/priority", "--priority"),
        ("run s.py --set main.resources.memory=1KiB", "/components/0/resources/memory", "main.resources.memory"),
        ("run s.py", "/body/user_limits/red/cores_milli", "user_limits.red.cores_milli"),
        ("sbatch --mem=900T job.sh", "/components/0/resources/memory", "--mem"),
        ("admin limit set --tenant red --cores 0", "/body/amounts/cores_milli", "--cores"),
        ("run s.py --with pandas==", "/components/0/requirements/0", "--with"),
        ("statement --month 2026-13", "/path/month", "--month"),
        ("schedule show a/b", "/path", "NAME"),
        ("schedule show ä", "/path/name", "NAME"),
        ("run app.json", "/components/0/image", "/components/0/image"),
    ],
)
def test_a_finding_names_the_option_that_was_typed(words: str, pointer: str, shown: str) -> None:
    context = _context(words)
    finding = Diagnostic(pointer=pointer, code="out_of_range", message="is wrong")
    error = InvalidDescription(Problem(title="It is not valid", status=422, code="x", errors=[finding]))
    name_options(context, error)
    assert [one.pointer for one in error.problem.errors] == [shown]


@pytest.mark.parametrize(
    ("words", "wrong", "shown"),
    [
        ("run s.py --deadline soon", "'soon' is not a time", "--deadline"),
        ("run s.py --begin +5x", "'5x' is not a duration", "--begin"),
        ("run s.py --after ok:a,b --share bob", "'b' is not a dependency", "--after"),
        ("run s.py --share bob:x", "'bob:x' is not USER:LEVEL", "--share"),
        ("schedule backfill nightly --from abc --to now", "'abc' is not a date", "--from"),
        ("run s.py --cores 1", "'abc' is not a date", ""),
    ],
)
def test_the_error_of_a_value_names_its_option(words: str, wrong: str, shown: str) -> None:
    error = typer.BadParameter(wrong)
    name_option(_context(words), error)
    assert (f"Invalid value for '{shown}'" if shown else "Invalid value: ") in error.format_message()


def _context(words: str) -> typer.Context:
    """Return the context of a command after its options were read."""
    context, rest = typer.Context(command(), info_name="zoe"), words.split()
    while not context.command.params or hasattr(context.command, "get_command"):
        name = rest.pop(0)
        found = context.command.get_command(context, name)  # type: ignore[attr-defined]
        if hasattr(found, "get_command"):
            context = typer.Context(found, parent=context, info_name=name)
        else:
            context = found.make_context(name, rest, parent=context)
    return context
