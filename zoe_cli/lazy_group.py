"""Import the modules of commands on demand, since a call needs few of them."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from zoe_cli.quick_values import read_simple_values

# Command -> its module in `zoe_cli.commands`, in the order of `zoe --help`.
MODULES = {
    "run": "running.run",
    "spark-submit": "running.spark",
    "sbatch": "batch.sbatch",
    "plan": "running.planning",
    "validate": "running.applications",
    "convert": "running.applications",
    "catalogue": "running.applications",
    "ls": "watching.listing",
    "show": "watching.listing",
    "cp": "files.copying",
    "fetch": "files.fetching",
    "workflow": "batch.workflows",
    "app": "batch.stored_applications",
    "dispatch": "batch.dispatching",
    "schedule": "batch.scheduling",
    "wait": "watching.ending",
    "cancel": "running.cancelling",
    "hold": "running.controlling",
    "release": "running.controlling",
    "modify": "running.controlling",
    "requeue": "running.controlling",
    "scale": "running.controlling",
    "accept": "watching.accepting",
    "array": "batch.arrays",
    "explain": "watching.why",
    "eta": "watching.why",
    "why-waited": "watching.why",
    "events": "watching.happening",
    "history": "watching.history",
    "statement": "account.statements",
    "budget": "account.statements",
    "diff": "watching.comparing",
    "logs": "watching.output_of",
    "open": "inside.opening",
    "exec": "inside.terminals",
    "ssh": "inside.ssh",
    "share": "account.sharing",
    "shares": "account.sharing",
    "unshare": "account.sharing",
    "top": "cluster.cluster",
    "quota": "cluster.cluster",
    "usage": "cluster.cluster",
    "status": "cluster.cluster",
    "whoami": "cluster.cluster",
    "replay": "cluster.replaying",
    "login": "account.signing_in",
    "logout": "account.signing_in",
    "context": "account.contexts",
    "completion": "words.completion",
    "nodes": "cluster.nodes",
    "policy": "cluster.policy",
    "storage": "storage.storage",
    "token": "account.tokens",
    "secret": "account.secrets",
    "notify": "running.notifying",
    "admin": "admin",
}

read_simple_values()


class LazyCommands(UserDict[str, Any]):
    """Commands by name; each is imported on first access."""

    def __init__(self) -> None:
        super().__init__(MODULES)

    def __getitem__(self, name: str) -> Any:
        return _commands_of(self.data[name], name)[name]


class LazyGroup(TyperGroup):
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


@cache
def _commands_of(module_name: str, name: str) -> Any:
    """Return the commands that a module registers, or its group under this name."""
    module = import_module(f"zoe_cli.commands.{module_name}")
    app = typer.Typer()
    if hasattr(module, "register"):
        module.register(app)
    else:
        app.add_typer(module.app, name=name)
    return typer.main.get_group(app).commands
