"""Import the modules of commands only when they are called, since a call needs few of the modules."""

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
    "run": "run",
    "spark-submit": "spark",
    "sbatch": "sbatch",
    "plan": "planning",
    "validate": "applications",
    "convert": "applications",
    "catalogue": "applications",
    "ls": "listing",
    "show": "listing",
    "cp": "copying",
    "fetch": "copying",
    "workflow": "workflows",
    "app": "stored_applications",
    "dispatch": "dispatching",
    "schedule": "scheduling",
    "wait": "ending",
    "cancel": "cancelling",
    "hold": "controlling",
    "release": "controlling",
    "modify": "controlling",
    "requeue": "controlling",
    "scale": "controlling",
    "accept": "promising",
    "array": "arrays",
    "explain": "why",
    "eta": "why",
    "why-waited": "why",
    "events": "happening",
    "history": "history",
    "statement": "statements",
    "budget": "statements",
    "diff": "comparing",
    "logs": "output_of",
    "open": "opening",
    "exec": "terminals",
    "ssh": "ssh",
    "share": "sharing",
    "shares": "sharing",
    "unshare": "sharing",
    "top": "cluster",
    "quota": "cluster",
    "usage": "cluster",
    "status": "cluster",
    "whoami": "cluster",
    "replay": "replaying",
    "login": "signing_in",
    "logout": "signing_in",
    "context": "contexts",
    "completion": "completion",
    "nodes": "nodes",
    "policy": "policy",
    "storage": "storage",
    "token": "tokens",
    "secret": "secrets",
    "notify": "notifying",
    "admin": "admin",
}

read_simple_values()


class LazyCommands(UserDict[str, Any]):
    """The commands by name; each is imported when it is read."""

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

        from zoe_client.plain_errors import entered

        if isinstance(refused.__cause__, ValidationError):
            refused.message = entered(refused.__cause__)
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
