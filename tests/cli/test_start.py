"""What a call of `zoe` imports: a script that calls it a hundred times pays for it a hundred times."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

from tests.cli.server import ADMIN, Server
from zoe_cli import commands
from zoe_cli.commands import admin
from zoe_cli.lazy_group import MODULES, LazyCommands

HEAVY = {"httpx", "httpcore", "pydantic", "rich.console", "yaml", "zoe_lib.descriptions", "pygments"}


def imported(script: str, **variables: str) -> set[str]:
    """The heavy modules that are there at the end of a script."""
    shown = f"import sys\n{script}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", shown], env=variables or None, capture_output=True, text=True, check=True
    )
    return HEAVY & set(done.stdout.split())


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        ("zoe_cli.main", set()),
        ("zoe_cli.commands.watching.listing", set()),
        ("zoe_cli.commands.watching.ending", set()),
        ("zoe_cli.commands.running.run", set()),
        ("zoe_cli.commands.running.applications", {"pydantic", "httpx", "yaml", "zoe_lib.descriptions"}),
    ],
)
def test_no_command_imports_what_it_may_not_need(module: str, wanted: set[str]) -> None:
    assert imported(f"import zoe_cli.main\nimport {module}") <= wanted


@pytest.mark.parametrize(
    "arguments",
    [
        ("ls",),
        ("ls", "-s", "running", "-n", "5", "--all-tenants"),
        ("show", "{id}"),
        ("show", "{id}", "-o", "json"),
        ("run", "{file}", "-o", "name"),
        ("cancel", "{id}"),
    ],
    ids=" ".join,
)
def test_a_quick_command_loads_neither_models_nor_a_large_client(
    arguments: tuple[str, ...], server: Server, submitted: str, app_file: Path
) -> None:
    given = [argument.replace("{id}", submitted).replace("{file}", str(app_file)) for argument in arguments]
    script = (
        f"sys.argv = {['zoe', *given]}\nfrom zoe_cli.main import main\ntry:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code"
    )
    assert not imported(script, ZOE_URL=server.url, ZOE_TOKEN=ADMIN)


def test_every_command_of_every_module_can_be_called() -> None:
    app = typer.Typer()
    for found in pkgutil.walk_packages(commands.__path__, f"{commands.__name__}."):
        module = import_module(found.name)
        if hasattr(module, "register") and not found.name.startswith(admin.__name__):
            module.register(app)
    called = LazyCommands()
    registered = {command.name for command in app.registered_commands}
    assert registered == {name for name, module in MODULES.items() if not hasattr(called[name], "commands")}
    assert all(called[name].name == name for name in MODULES)
