"""Import the modules of commands on demand, since a call needs few of them."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from zoe_cli.quick_values import read_simple_values

# Group -> command -> its module in `zoe_cli.commands`, in the order of `zoe --help`.
GROUPS = {
    "Run": {
        "run": "running.run",
        "notebook": "inside.notebook",
        "spark-submit": "running.spark",
        "sbatch": "batch.sbatch",
        "plan": "running.planning",
        "wait": "watching.ending",
        "cancel": "running.cancelling",
        "requeue": "running.controlling",
        "scale": "running.controlling",
        "accept": "watching.accepting",
        "catalogue": "running.applications",
        "validate": "running.applications",
        "convert": "running.applications",
    },
    "Look": {
        "ls": "watching.listing",
        "show": "watching.listing",
        "logs": "watching.output_of",
        "explain": "watching.why",
        "eta": "watching.why",
        "why-waited": "watching.why",
        "events": "watching.happening",
        "history": "watching.history",
        "diff": "watching.comparing",
        "open": "inside.opening",
        "exec": "inside.terminals",
        "ssh": "inside.ssh",
        "top": "cluster.cluster",
        "usage": "cluster.cluster",
        "status": "cluster.cluster",
    },
    "Files": {
        "cp": "files.copying",
        "rm": "files.removing",
        "fetch": "files.fetching",
        "storage": "storage.storage",
        "volume": "storage.volumes",
    },
    "Batch": {
        "array": "batch.arrays",
        "workflow": "batch.workflows",
        "app": "batch.stored_applications",
        "dispatch": "batch.dispatching",
        "schedule": "batch.scheduling",
        "hold": "running.controlling",
        "release": "running.controlling",
        "modify": "running.controlling",
    },
    "Account": {
        "login": "account.signing_in",
        "logout": "account.signing_in",
        "context": "account.contexts",
        "whoami": "cluster.cluster",
        "token": "account.tokens",
        "secret": "account.secrets",
        "notify": "running.notifying",
        "share": "account.sharing",
        "shares": "account.sharing",
        "unshare": "account.sharing",
        "quota": "cluster.cluster",
        "statement": "account.statements",
        "budget": "account.statements",
        "completion": "words.completion",
    },
    "Administration": {
        "nodes": "cluster.nodes",
        "policy": "cluster.policy",
        "replay": "cluster.replaying",
        "admin": "admin",
    },
}
MODULES = {name: module for modules in GROUPS.values() for name, module in modules.items()}
_GROUP_OF = {name: group for group, modules in GROUPS.items() for name in modules}
# Commands of Slurm and of other command lines -> ours.
_ELSEWHERE = {
    "squeue": "zoe ls", "sacct": "zoe history", "sinfo": "zoe nodes", "scancel": "zoe cancel", "sstat": "zoe top",
    "seff": "zoe show", "scontrol": "zoe show, hold, release or modify", "srun": "zoe run",
    "salloc": "zoe run", "ps": "zoe ls", "list": "zoe ls", "submit": "zoe run", "kill": "zoe cancel",
    "stop": "zoe cancel", "delete": "zoe cancel", "describe": "zoe show", "get": "zoe show", "download": "zoe fetch",
    "upload": "zoe cp",
}  # fmt: skip
# Options of other command lines -> ours.
_FORMATS = {"--json": "-o json", "--yaml": "-o yaml", "--quiet": "-o name", "-q": "-o name"}

read_simple_values()


class LazyCommands(UserDict[str, Any]):
    """Commands by name; each is imported on first access."""

    def __init__(self) -> None:
        super().__init__(MODULES)

    def __getitem__(self, name: str) -> Any:
        command = _commands_of(self.data[name], name)[name]
        command.rich_help_panel = _GROUP_OF[name]
        return command


def without_types_of_flags(params: list[Any]) -> list[Any]:
    """Return the parameters so that help shows no type for options without a value."""
    for parameter in params:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return params


class PlainGroup(TyperGroup):
    """A group whose flags have no type in help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return without_types_of_flags(super().get_params(ctx))


class LazyGroup(PlainGroup):
    """The group of all commands (see "Lazily Loading Subcommands" in the manual of Click)."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands()

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Typer's signature
        """Return the names without importing the commands."""
        return list(self.commands)

    def make_context(self, *given: Any, **named: Any) -> Any:
        """Return the context of the options before the command."""
        with _plainly():
            return super().make_context(*given, **named)

    def invoke(self, ctx: Any) -> Any:
        """Read the options of the command, and run it."""
        with _plainly():
            return super().invoke(ctx)


@contextmanager
def _plainly() -> Iterator[None]:
    """Report a wrong option in the words of the API instead of Typer's, which come from pydantic."""
    try:
        yield
    except typer.BadParameter as refused:
        from pydantic import ValidationError

        from zoe_client.words.plain_errors import argument_error

        if isinstance(refused.__cause__, ValidationError):
            refused.message = argument_error(refused.__cause__)
        raise
    except Exception as refused:
        _list_commands(refused)
        if hint := _FORMATS.get(getattr(refused, "option_name", "")):
            raise typer.BadParameter(f"no such option; the output format is {hint}") from None
        raise


def _list_commands(refused: Exception) -> None:
    """Add the commands of a group to the error about one that it has not."""
    message, context = getattr(refused, "message", ""), getattr(refused, "ctx", None)
    if not message.startswith("No such command") or context is None:
        return
    name = re.match("No such command '([^']*)'", message)
    if context.parent is None and name is not None and name[1] in _ELSEWHERE:
        refused.message = f"No such command '{name[1]}'; use {_ELSEWHERE[name[1]]}."  # type: ignore[attr-defined]
    elif context.parent is None:
        refused.message = f"{message} `zoe --help` lists the commands."  # type: ignore[attr-defined]
    else:
        names = ", ".join(context.command.list_commands(context))
        refused.message = f"{message} {context.command_path} has: {names}."  # type: ignore[attr-defined]


@cache
def _commands_of(module_name: str, name: str) -> Any:
    """Return the commands that a module registers, or its group under this name."""
    module = import_module(f"zoe_cli.commands.{module_name}")
    app = typer.Typer()
    if hasattr(module, "register"):
        module.register(app)
    else:
        app.add_typer(module.app, name=name, cls=PlainGroup)
    return typer.main.get_group(app).commands
