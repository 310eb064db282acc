"""What a call of `zoe` imports: a script that calls it a hundred times pays for it a hundred times."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest
import typer

from zoe_cli import commands
from zoe_cli.lazy_group import MODULES, LazyCommands

HEAVY = {"httpx", "pydantic", "rich.console", "yaml", "zoe_lib.descriptions", "pygments"}


def imported(script: str) -> set[str]:
    """The heavy modules that are there at the end of a script."""
    shown = f"import sys\n{script}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return HEAVY & set(done.stdout.split())


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        ("zoe_cli.main", set()),
        ("zoe_cli.commands.listing", {"pydantic", "httpx"}),
        ("zoe_cli.commands.applications", {"pydantic", "httpx", "yaml", "zoe_lib.descriptions"}),
    ],
)
def test_no_command_imports_what_it_may_not_need(module: str, wanted: set[str]) -> None:
    assert imported(f"import zoe_cli.main\nimport {module}") <= wanted


def test_every_command_of_every_module_can_be_called() -> None:
    app = typer.Typer()
    for found in pkgutil.iter_modules(commands.__path__):
        module = import_module(f"{commands.__name__}.{found.name}")
        if hasattr(module, "register"):
            module.register(app)
    called = LazyCommands()
    registered = {command.name for command in app.registered_commands}
    assert registered == {name for name, module in MODULES.items() if not hasattr(called[name], "commands")}
    assert all(called[name].name == name for name in MODULES)
