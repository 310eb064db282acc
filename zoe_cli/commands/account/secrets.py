"""secret: set, list, remove secrets that services get as files or variables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.wire import SecretView
from zoe_client.words.amounts import size

app = typer.Typer(help="Secrets that services get as files or variables.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the secret: letters, digits, _ and -.")]
OfTenant = Annotated[
    bool, typer.Option("--tenant", help="The tenant's secret instead of your own; for operators and admins.")
]


def set_one(
    context: typer.Context,
    name: Name,
    of_tenant: OfTenant = False,
    from_file: Annotated[
        Path | None, typer.Option(help="File with the value (default: a prompt, or standard input).")
    ] = None,
) -> None:
    """Store a secret. The value comes from a prompt, a file or standard input, never from an argument."""
    value = _value(from_file)
    with options(context).client() as client:
        kept = client.set_secret(name, value, of_tenant)
    emit(kept, options(context).output, _rows([kept]))


def show(context: typer.Context) -> None:
    """List your secrets and the tenant's; values are never shown."""
    with options(context).client() as client:
        answer = client.secrets()
    emit(answer, options(context).output, _rows(answer.secrets))


def remove(context: typer.Context, name: Name, of_tenant: OfTenant = False) -> None:
    """Remove a secret. Running services keep the value; later starts fail."""
    with options(context).client() as client:
        client.remove_secret(name, of_tenant)
    emit({"removed": name}, options(context).output, Rows(("removed",), [(name,)]))


def _value(file: Path | None) -> str:
    """Return the typed value, or the whole file. A value of one line loses its final line break, which is not part of
    the secret.
    """
    try:
        if file is not None and str(file) != "-":
            return _without_end(file.read_bytes().decode())
        if sys.stdin.isatty():
            return str(typer.prompt("value", hide_input=True, err=True))
        if value := _without_end(sys.stdin.buffer.read().decode()):
            return value
        raise typer.BadParameter("standard input is empty: pipe the value into this command, or use --from-file")
    except OSError as error:
        raise typer.BadParameter(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter("the value is not UTF-8 text; encode it, for example by base64") from None


def _without_end(text: str) -> str:
    line = text.removesuffix("\n").removesuffix("\r")
    return text if "\n" in line else line


def _rows(secrets: list[SecretView]) -> Rows:
    rows = [
        (secret.name, secret.user or "(tenant)", size(secret.size_bytes), clock(secret.set_at_s), secret.set_by)
        for secret in secrets
    ]
    return Rows(("name", "of", "size", "set", "by"), rows, "no secrets yet: `zoe secret set` stores one")


add(app, "set", set_one, ("zoe secret set wandb", "zoe secret set db --tenant --from-file db.password"))
add(app, "ls", show, ("zoe secret ls",))
add(app, "rm", remove, ("zoe secret rm wandb",))
