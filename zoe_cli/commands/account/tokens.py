"""token ls, token add, token revoke: your own API tokens."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from zoe_cli.commands.words.dates import seconds
from zoe_cli.context import options
from zoe_cli.output import Format, emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import duration
from zoe_client.vocabulary import Scope
from zoe_client.wire import TokenRequest, TokenView

app = typer.Typer(help="API tokens.", no_args_is_help=True)


def ls(context: typer.Context) -> None:
    """List your tokens."""
    with options(context).client() as client:
        answer = client.tokens()
    emit(answer, options(context).output, _rows(answer.tokens))


def add_token(
    context: typer.Context,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="Scope: read, submit, operate or admin; may be repeated (default: read and submit)."),
    ] = None,
    lifetime: Annotated[
        float | None,
        typer.Option(
            parser=seconds, metavar="DURATION", help="Time until it expires: 12h, 30d, or seconds (default: never)."
        ),
    ] = None,
    text: Annotated[str, typer.Option("--note", help="Note on what the token is for.")] = "",
) -> None:
    """Make a token. Its secret is shown only once."""
    scopes = scope or ["read", "submit"]
    unknown = set(scopes) - {scope.value for scope in Scope}
    if unknown:
        raise typer.BadParameter(f"unknown scope: {', '.join(sorted(unknown))}")
    request = TokenRequest(scopes=[Scope(scope) for scope in scopes], lifetime_s=lifetime, note=text)
    with options(context).client() as client:
        token = client.add_token(request)
    form = options(context).output
    if form in (Format.TABLE, Format.NAME):
        note(f"secret, shown once: {token.secret}")
    emit(token, form, _rows([token]))


def revoke(
    context: typer.Context, token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the token.")]
) -> None:
    """Revoke a token at once."""
    with options(context).client() as client:
        client.revoke_token(token_id)
    emit({"revoked": token_id}, options(context).output, Rows(("revoked",), [(token_id,)]))


def expiry(token: TokenView) -> str:
    """Return the time until a token expires."""
    return "never" if token.expires_at_s is None else duration(token.expires_at_s - time.time())


def _rows(tokens: list[TokenView]) -> Rows:
    rows = [(t.id, ", ".join(t.scopes), expiry(t), t.note) for t in tokens]
    return Rows(("id", "scopes", "expires in", "note"), rows)


add(app, "ls", ls, ("zoe token ls",))
add(app, "add", add_token, ("zoe token add --scope read --lifetime 86400 -o json | jq -r .secret",))
add(app, "revoke", revoke, ("zoe token revoke 3f2a9c",))
