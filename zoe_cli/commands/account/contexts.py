"""context ls, use, add, remove: the servers that you use."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.context import checked_url, options, plainly
from zoe_cli.output import Format, emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.contexts import Context, Contexts, read_contexts, write_contexts

app = typer.Typer(help="Servers that you use, each with its token.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the context.")]


def ls(context: typer.Context) -> None:
    """List the contexts; a star marks the one in use. Tokens are never shown."""
    with plainly():
        _show(read_contexts(), options(context).output)


def use(context: typer.Context, name: Name) -> None:
    """Use a context from now on."""
    with plainly():
        _keep(context, read_contexts().using(name))


def add_one(
    context: typer.Context,
    name: Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the server.")],
) -> None:
    """Add a server, or change its address; `zoe login URL` also signs in."""
    place = Context(checked_url(url))
    with plainly():
        _keep(context, read_contexts().having(name, place))


def remove(context: typer.Context, name: Name) -> None:
    """Remove a context and its token. The token itself stays valid: `zoe logout --revoke` ends it."""
    with plainly():
        _keep(context, read_contexts().remove(name))


def _keep(context: typer.Context, contexts: Contexts) -> None:
    write_contexts(contexts)
    _show(contexts, options(context).output)


def _show(contexts: Contexts, form: Format) -> None:
    known = sorted(contexts.by_name.items())
    listed = [{"name": name, "url": context.url, "signed_in": context.token is not None} for name, context in known]
    rows = [
        (name, "*" * (name == contexts.current), context.url, "yes" if context.token is not None else "no")
        for name, context in known
    ]
    columns = ("name", "in use", "url", "signed in")
    emit({"current": contexts.current, "contexts": listed}, form, Rows(columns, rows))


add(app, "ls", ls, ("zoe context ls",))
add(app, "list", ls, hidden=True)
add(app, "use", use, ("zoe context use lab",))
add(app, "add", add_one, ("zoe context add lab https://zoe.example.org",))
add(app, "remove", remove, ("zoe context remove lab",))
