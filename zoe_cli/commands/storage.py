"""storage: the object store and its controller."""

from __future__ import annotations

import typer

from zoe_cli.commands import credentials

app = typer.Typer(help="The object store.", no_args_is_help=True)
app.add_typer(credentials.app, name="credentials")
