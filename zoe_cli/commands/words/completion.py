"""completion: the script that lets a shell complete commands, options and ids."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from typer._completion_shared import get_completion_script

from zoe_cli.context import Options
from zoe_cli.output import write
from zoe_cli.registry import add
from zoe_cli.text import printable
from zoe_client.errors import ZoeError

_IDS_MAX = 50


class Shell(StrEnum):
    """Shells with a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def register(app: typer.Typer) -> None:
    """Add the command."""
    examples = ("source <(zoe completion bash)", "zoe completion fish > ~/.config/fish/completions/zoe.fish")
    add(app, "completion", completion, examples, results=False)


def completion(shell: Annotated[Shell, typer.Argument(help="Shell to complete in.")]) -> None:
    """Print the completion script of a shell."""
    write(get_completion_script(prog_name="zoe", complete_var="_ZOE_COMPLETE", shell=shell.value) + "\n")


def execution_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the newest executions with this id prefix, with descriptions; none if the server does not answer."""
    params = context.find_root().params
    given = {key: params[key] for key in ("url", "token", "token_file") if params.get(key)}
    try:
        with Options(**given, context=params.get("context_name")).client() as client:
            found = client.executions(limit=_IDS_MAX).executions
    except (ZoeError, typer.BadParameter):
        return []
    return [(e.id, printable(f"{e.name}, {e.state.value}")) for e in found if e.id.startswith(incomplete)]
