"""login, logout: keep a token for a server."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from zoe_cli.commands.words.dates import seconds
from zoe_cli.context import checked_token, checked_url, options, plainly, token_in
from zoe_cli.exits import Exit
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.calls.machines import MachineSignIn, NobodyAllowed, machine_name
from zoe_client.contexts import Context, contexts_file, read_contexts, write_contexts
from zoe_client.http.proxies import on_this_machine
from zoe_client.vocabulary import Scope
from zoe_client.wire import MachineRequest

_PATIENCE_S = 30.0
"""Longest failure of the network that a pending sign-in survives, in seconds."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    examples = (
        "zoe login https://zoe.example.org",
        "zoe login https://zoe.example.org --no-browser",
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
        Path | None, typer.Option(help="File with a token, instead of the browser (- : standard input).")
    ] = None,
    browser: Annotated[
        bool | None,
        typer.Option(
            "--browser/--no-browser", help="Open a browser, or only print the address (default: if there is a screen)."
        ),
    ] = None,
    scope: Annotated[
        list[Scope] | None, typer.Option(help="Scope of the token (default: read and submit); repeatable.")
    ] = None,
    lifetime: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            metavar="DURATION",
            help="Time until the token ends: 12h, 30d, or seconds (default: as long as the server allows).",
        ),
    ] = None,
) -> None:
    """Sign in to a server, and use this server from now on.

    On a terminal, a browser, here or on another machine, asks you to allow this machine. The machine then gets a token
    of its own, named after it, which you can revoke. Otherwise a token comes from standard input or a file, never from
    an argument. The token is checked, then kept in a file that only you can read.
    """
    url = checked_url(url)
    if url.startswith("http://") and not on_this_machine(urlsplit(url).hostname or ""):
        note("note: this address has no TLS, so others in the network can read the token")
    if browser is None and (token_file is not None or not sys.stdin.isatty()):
        token = _token(token_file)
    else:
        token = _token_from_browser(
            context, url, MachineRequest(machine=machine_name(), lifetime_s=lifetime), scope, browser
        )
    token = checked_token(token)
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
        signed_in = contexts.get(chosen)
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


def _token_from_browser(
    context: typer.Context, url: str, wanted: MachineRequest, scopes: list[Scope] | None, browser: bool | None
) -> str:
    """Return the token after the user has allowed it in a browser; exit if the user refuses, or does not answer."""
    if scopes:
        wanted = wanted.model_copy(update={"scopes": scopes})
    with MachineSignIn(url, patience_s=max(options(context).patience_s, _PATIENCE_S)) as sign_in:
        asked = sign_in.ask(wanted)
        note(f"Open {sign_in.page(asked)}")
        note(f"and allow this machine there if you see this code:  {asked.code}")
        if browser or (browser is None and _has_screen()):
            webbrowser.open(sign_in.page(asked))
        try:
            return sign_in.token(asked)
        except NobodyAllowed as refusal:
            note(str(refusal))
            raise typer.Exit(Exit.NOT_ALLOWED) from None


def _has_screen() -> bool:
    """Return whether a graphical browser can open; one in the terminal would hide the code."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _token(file: Path | None) -> str:
    if file is not None and str(file) != "-":
        return token_in(file) or ""
    if sys.stdin.isatty():
        return str(typer.prompt("API token", hide_input=True, err=True)).strip()
    return sys.stdin.read().strip()
