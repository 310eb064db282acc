"""storage credentials: a tenant's credentials for services of the object store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.wire import CredentialRequest, CredentialView

app = typer.Typer(help="Credentials of the tenant for services of the object store.", no_args_is_help=True)

Service = Annotated[
    str, typer.Argument(metavar="SERVICE", help="Name of the service, as in swift2d://container.SERVICE/prefix.")
]
Tenant = Annotated[str | None, typer.Option(help="Another tenant than your own; admins only.")]


def show(context: typer.Context, tenant: Tenant = None) -> None:
    """List the services for which the tenant has credentials; keys are never shown."""
    with options(context).client() as client:
        answer = client.storage_credentials(tenant)
    emit(answer, options(context).output, _rows(answer.credentials))
    if missing := sorted(set(answer.services) - {credential.service for credential in answer.credentials}):
        note(f"without credentials: {', '.join(missing)}")


def set_one(
    context: typer.Context,
    service: Service,
    user: Annotated[str, typer.Option(help="Login: Swift's account:user, or the access key of S3.")],
    key_file: Annotated[Path | None, typer.Option(help="File with the key (default: standard input, or `-`).")] = None,
    tenant: Tenant = None,
) -> None:
    """Store the tenant's credentials for a service. The key comes from a file or the terminal, never from an
    argument.
    """
    request = CredentialRequest(user=user, key=_key(key_file))
    with options(context).client() as client:
        kept = client.set_storage_credential(service, request, tenant)
    emit(kept, options(context).output, _rows([kept]))


def remove(context: typer.Context, service: Service, tenant: Tenant = None) -> None:
    """Remove the tenant's credentials for a service. Running services keep them."""
    with options(context).client() as client:
        client.remove_storage_credential(service, tenant)
    emit({"removed": service}, options(context).output, Rows(("removed",), [(service,)]))


def _key(file: Path | None) -> str:
    if file is not None and str(file) != "-":
        try:
            return file.read_text().strip()
        except OSError as error:
            raise typer.BadParameter(f"cannot read {file}: {error.strerror}") from None
    if sys.stdin.isatty():
        return str(typer.prompt("key", hide_input=True, err=True))
    return sys.stdin.read().strip()


def _rows(credentials: list[CredentialView]) -> Rows:
    rows = [
        (credential.service, credential.user, credential.tenant, clock(credential.set_at_s), credential.set_by)
        for credential in credentials
    ]
    return Rows(("service", "user", "tenant", "set", "by"), rows)


add(app, "set", set_one, ("zoe storage credentials set zoe --user acme:ann --key-file swift.key",))
add(app, "show", show, ("zoe storage credentials show",))
add(app, "remove", remove, ("zoe storage credentials remove zoe",))
