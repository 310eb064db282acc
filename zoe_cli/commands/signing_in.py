"""login, logout: keep a token for a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from zoe_cli.context import checked_token, checked_url, options, plainly, token_in
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.contexts import Context, contexts_file, read_contexts, write_contexts
from zoe_client.proxies import on_this_machine


def register(app: typer.Typer) -> None:
    """Add the commands."""
    examples = (
        "zoe login https://zoe.example.org",
        "zoe login https://zoe.example.org --token-file token --name lab",
        "zoe --context lab ls",
    )
    add(app, "login", login, examples)
    add(app, "logout", logout, ("zoe logout", "zoe logout lab --revoke"))


def login(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the server.")],
    name: Annotated[str | None, typer.Option(help="Name of the context (default: the host of the server).")] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token (default: standard input, or ask on the terminal).")
    ] = None,
) -> None:
    """Sign in to a server with an API token, and use this server from now on.

    The token comes from a file or the terminal, never from an argument. The web UI makes tokens, and so does
    `zoe token add` where you are signed in. The token is checked, then kept in a file that only you can read.
    """
    url = checked_url(url)
    if url.startswith("http://") and not on_this_machine(urlsplit(url).hostname or ""):
        note("note: this address has no TLS, so others in the network can read the token")
    token = checked_token(_token(token_file))
    from zoe_client.client import Client

    with Client(url, token, patience_s=options(context).patience_s) as client:
        me = client.me()
    chosen = name or urlsplit(url).netloc.rpartition("@")[2]
    with plainly():
        write_contexts(read_contexts().having(chosen, Context(url, token)).using(chosen))
    note(f"signed in; the token is kept in {contexts_file()}")
    shown = {"context": chosen, "url": url, "user": me.user, "tenant": me.tenant, "role": me.role}
    emit(shown, options(context).output, Rows(tuple(shown), [tuple(shown.values())]))


def logout(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Context (default: the one in use).")] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke the token at the server first.")] = False,
) -> None:
    """Forget the token of a server; its address stays. Without --revoke the token itself stays valid."""
    with plainly():
        contexts = read_contexts()
        chosen = name or options(context).context or contexts.current or ""
        signed_in = contexts.named(chosen)
    if signed_in.token is None:
        note(f"you are not signed in to {chosen}")
        return
    if revoke:
        from zoe_client.client import Client

        with Client(signed_in.url, signed_in.token, patience_s=options(context).patience_s) as client:
            client.revoke_token(signed_in.token.split("_")[1])
    with plainly():
        write_contexts(contexts.having(chosen, Context(signed_in.url)))
    emit({"signed_out": chosen}, options(context).output, Rows(("signed out",), [(chosen,)]))


def _token(file: Path | None) -> str:
    if file is not None:
        return token_in(file) or ""
    if sys.stdin.isatty():
        return str(typer.prompt("API token", hide_input=True, err=True)).strip()
    return sys.stdin.read().strip()
