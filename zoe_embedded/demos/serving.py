"""The work of `make serve`: start the stack, say where it is, and keep it up."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from zoe_client.contexts import ContextError
from zoe_embedded.demos.own_context import keep_context
from zoe_embedded.demos.preparing import prepare_home
from zoe_embedded.demos.serve_storage import served_store, tell_store
from zoe_embedded.demos.storage import FAILURES
from zoe_embedded.processes.keeping import LOOK_INTERVAL_S, Revivals
from zoe_embedded.runtimes.needs import MEMCACHED
from zoe_embedded.stack import Stack
from zoe_embedded.swift.site import Site
from zoe_lib.tokens.api_tokens import FIRST_USER

STOPPED = (
    "Stopped. With the next `make serve`, queued executions keep their places, and running ones restart from the "
    "beginning."
)


def serve(file: Path | None, backends: Sequence[str], backend: str | None, *, storage: bool) -> int:
    """Serve until Ctrl-C; return 1 if a process does not start, or repeatedly ends by itself.

    file: settings as in zoe.toml. backends: the possible ones; backend: the chosen one.
    """
    console = Console(soft_wrap=True)
    try:
        if storage:
            home, settings = prepare_home(file, [MEMCACHED], spark=False, backends=backends, backend=backend)
            with served_store(home, settings) as site:
                tell_store(console, site)
                tell_address(console, site.stack, sign_in(console, site.stack))
                return keep_up(console, site.stack, site)
        home, settings = prepare_home(file, spark=False, backends=backends, backend=backend)
        with Stack(home, settings=settings, on_demand=True) as stack:
            tell_address(console, stack, sign_in(console, stack))
            return keep_up(console, stack)
    except FAILURES as error:
        console.print(str(error), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print(STOPPED)
        return 0


def keep_up(console: Console, stack: Stack, site: Site | None = None) -> int:
    """Restart processes that end by themselves, until that happens too often. A server of Swift stays away until an
    admin restarts it, as with any store.
    """
    revivals = Revivals()
    away: list[str] = []
    while True:
        time.sleep(LOOK_INTERVAL_S)
        if site is not None:
            away, before = [name for name in site.store.all_ended() if name != MEMCACHED], away
            for name in set(away).difference(before):
                console.print(f"[red]The store's {name} ended by itself; see {site.store.directory / name}.log[/red]")
                console.print(f"[yellow]`zoe storage restart {name}` starts it again.[/yellow]")
        for what in stack.runtimes.hold_new():
            console.print(f"Installed {what}.", markup=False)
        for story in stack.revive() if site is None else site.revive():
            console.print(f"[yellow]{story}[/yellow]")
            if revivals.record_restart(time.monotonic()):
                console.print(f"[red]That happens too often; see {stack.home.logs}[/red]")
                return 1


def sign_in(console: Console, stack: Stack) -> str | None:
    """Return the command `zoe` for the account that runs this, which keeps a context; None without one."""
    try:
        return keep_context(stack.url, stack.token_file, stack.home.path, chosen="ZOE_HOME" in os.environ)
    except ContextError as error:
        console.print(f"zoe is not signed in: {error}", style="yellow", markup=False)
        return None


def tell_address(console: Console, stack: Stack, command: str | None = None) -> None:
    """Print the address, the admin's account, and how to use both; `command`: `zoe` where it needs no variables."""
    if not stack.url.endswith(f":{stack.preferred_port}"):
        console.print(
            f"[yellow]Port {stack.preferred_port} is in use by another program, so this URL has another port. "
            "The setting api_port chooses the port.[/yellow]"
        )
    console.print(f"[bold]Zoe is up[/bold] at {stack.url}   (API reference: {stack.url}/api/docs)")
    console.print(f"Sign in with a browser: user {FIRST_USER}, password {stack.password}")
    console.print(f"Data: {stack.home.path}   (ZOE_HOME)")
    lacking = stack.runtimes.lacking if stack.backend == "local" else {}
    for reason in dict.fromkeys(lacking.values()):
        console.print(f"Some applications cannot run: {reason}", style="yellow", markup=False)
    if command is not None:
        console.print(f"Or use it from another terminal: .venv/bin/{command} ls", markup=False)
    console.print("For other accounts and programs:" if command else "Or use it from another terminal:")
    console.print(f"  export ZOE_URL={stack.url} ZOE_TOKEN_FILE={shlex.quote(str(stack.token_file))}")
    console.print("  .venv/bin/zoe status")
    console.print("Ctrl-C stops everything that was started here.")
