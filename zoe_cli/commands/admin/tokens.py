"""admin token ls, admin token revoke."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.commands.account.tokens import expiry
from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows

app = typer.Typer(help="API tokens of all users.", no_args_is_help=True)


def ls(context: typer.Context) -> None:
    """List the tokens of all users, without their secrets."""
    with options(context).client() as client:
        answer = client.admin.tokens()
    rows = [(t.id, t.user, t.tenant, ", ".join(t.scopes), expiry(t), t.note) for t in answer.tokens]
    emit(answer, options(context).output, Rows(("id", "user", "tenant", "scopes", "expires in", "note"), rows))


def revoke(
    context: typer.Context, token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the token.")]
) -> None:
    """Revoke any user's token at once."""
    with options(context).client() as client:
        client.admin.revoke_token(token_id)
    emit({"revoked": token_id}, options(context).output, Rows(("revoked",), [(token_id,)]))


add(app, "ls", ls, ("zoe admin token ls",))
add(app, "revoke", revoke, ("zoe admin token revoke 3f2a9c",))
