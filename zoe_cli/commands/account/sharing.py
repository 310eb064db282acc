"""share, shares, unshare: access of other users to an execution."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from zoe_cli.commands.words.arguments import Ids, for_each
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client import Client
from zoe_client.vocabulary import ShareLevel
from zoe_client.wire import ShareView

_WITH_TENANT = "zoe share x1m7xhnzn3f4144 --with-tenant"
_TENANT = "(all members of the tenant)"
With = Annotated[str | None, typer.Option("--with", metavar="USER", help="User of the tenant.", show_default=False)]
WithTenant = Annotated[bool, typer.Option("--with-tenant", help="All members of the tenant.")]
Level = Annotated[
    ShareLevel,
    typer.Option(
        "--as",
        help="`look`: state, output, events, and the description without values of the environment. "
        "`open`: the application, too. `control`: a terminal as you, hold, modify, requeue and cancel, too.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        "share",
        share,
        ("zoe share x1m7xhnzn3f4144 --with bob --as look", "zoe share x1m7xhnzn3f4144 --with-tenant"),
    )
    add(app, "shares", shares, ("zoe shares x1m7xhnzn3f4144",))
    add(app, "unshare", unshare, ("zoe unshare x1m7xhnzn3f4144 --with bob",))


def share(
    context: typer.Context,
    execution_ids: Ids,
    user: With = None,
    with_tenant: WithTenant = False,
    level: Level = ShareLevel.LOOK,
) -> None:
    """Share your executions with another user of the tenant, or with all of them."""
    _check_one(user, with_tenant)
    for_each(context, execution_ids, partial(_share, context, user, level))


def _share(context: typer.Context, user: str | None, level: ShareLevel, execution_id: str) -> None:
    with options(context).client() as client:
        stored = share_with(client, execution_id, user, level)
    emit(stored, options(context).output, _rows([stored]))


def shares(context: typer.Context, execution_ids: Ids) -> None:
    """List with whom your executions are shared."""
    for_each(context, execution_ids, partial(_shares, context))


def _shares(context: typer.Context, execution_id: str) -> None:
    with options(context).client() as client:
        answer = client.shares(execution_id)
    emit(answer, options(context).output, _rows(answer.shares))


def unshare(context: typer.Context, execution_ids: Ids, user: With = None, with_tenant: WithTenant = False) -> None:
    """End a share of your executions."""
    _check_one(user, with_tenant)
    for_each(context, execution_ids, partial(_unshare, context, user))


def _unshare(context: typer.Context, user: str | None, execution_id: str) -> None:
    with options(context).client() as client:
        client.end_share(execution_id, user)
    emit({"ended": user}, options(context).output, Rows(("ended",), [(user or _TENANT,)]))


def share_with(client: Client, execution_id: str, user: str | None, level: ShareLevel) -> ShareView:
    """Share an execution, and print the access that this gives."""
    stored = client.share(execution_id, level, user)
    if stored.warning:
        note(f"warning: {stored.warning}")
    return stored


def read_share(text: str) -> tuple[str, ShareLevel]:
    """Return user and level of a text such as `bob:look`; BadParameter if it is invalid."""
    user, colon, level = text.rpartition(":")
    if not colon or not user or level not in list(ShareLevel):
        raise typer.BadParameter(f"{text!r} is not USER:LEVEL; the level is one of {', '.join(ShareLevel)}")
    return user, ShareLevel(level)


def _check_one(user: str | None, with_tenant: bool) -> None:
    if (user is not None) == with_tenant:
        raise typer.BadParameter("name one: --with USER, or --with-tenant")


def _rows(shares: list[ShareView]) -> Rows:
    return Rows(
        ("with", "as", "since"), [(share.user or _TENANT, share.level.value, clock(share.at_s)) for share in shares]
    )
