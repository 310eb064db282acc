"""Register commands; each also takes `-o`, so that `zoe ls -o json` and `zoe -o json ls` are the same."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand

from zoe_cli.context import options
from zoe_cli.output import Format

Command = Callable[..., None]

OutputOption = Annotated[Format | None, typer.Option("--output", "-o", help="Output format.", show_default=False)]


def usage_of(argument: Any) -> str:
    """Return an argument in a usage line: optional ones in brackets, repeatable ones with three dots."""
    name: str = argument.metavar or argument.name.upper()
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    if argument.nargs != 1 and "..." not in name:
        name += "..."
    return name if argument.required else f"[{name}]"


class UsageCommand(TyperCommand):
    """A command whose usage line has no braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words after the command's name."""
        arguments = (parameter for parameter in self.get_params(ctx) if isinstance(parameter, TyperArgument))
        return ["[OPTIONS]", *(usage_of(argument) for argument in arguments if not argument.hidden)]


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
    register = app.command(name, cls=UsageCommand, epilog=epilog, context_settings=context)
    register(with_output(command) if results else command)


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
