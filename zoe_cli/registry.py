"""Register commands; each also takes `-o`, so that `zoe ls -o json` and `zoe -o json ls` are the same."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

import typer

from zoe_cli.context import options
from zoe_cli.output import Format

Command = Callable[..., None]

OutputOption = Annotated[Format | None, typer.Option("--output", "-o", help="Output format.", show_default=False)]


def add(
    app: typer.Typer,
    name: str,
    command: Command,
    examples: Sequence[str] = (),
    *,
    results: bool = True,
    options_first: bool = False,
) -> None:
    """Add a command with examples in its help; `results`: its output has formats.

    `options_first`: everything after the first argument belongs to another program, including options.
    """
    epilog = "\n\n".join(("Examples:", *(f"  {example}" for example in examples))) if examples else None
    context = {"allow_interspersed_args": not options_first}
    app.command(name, epilog=epilog, context_settings=context)(with_output(command) if results else command)


def with_output(command: Command) -> Command:
    """Return the same command with `-o`."""
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    own = [p.replace(annotation=hints[p.name]) for p in signature.parameters.values()]
    option = inspect.Parameter("output", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OutputOption)

    @functools.wraps(command)
    def wrapper(context: typer.Context, *arguments: Any, output: Format | None = None, **named: Any) -> None:
        if output is not None:
            context.obj = replace(options(context), output=output)
        command(context, *arguments, **named)

    vars(wrapper).pop("__wrapped__")
    wrapper.__annotations__ = {**hints, "output": OutputOption}
    vars(wrapper)["__signature__"] = signature.replace(parameters=[*own, option])
    return wrapper
