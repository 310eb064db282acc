"""ssh: connect to a running service, over the connection to the API."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zoe_cli.commands.inside.choosing import chosen_service, service_and_words
from zoe_cli.commands.words.arguments import Id
from zoe_cli.context import Options, options
from zoe_cli.exits import Exit
from zoe_cli.output import note, write
from zoe_cli.registry import add

if TYPE_CHECKING:
    from zoe_client import Client

_EXAMPLES = (
    "zoe ssh x1m7xhnzn3f4144",
    "zoe ssh x1m7xhnzn3f4144 worker/2 -- nvidia-smi",
    "zoe ssh x1m7xhnzn3f4144 -- -N -L 8080:localhost:8080",
    "zoe ssh --config x1m7xhnzn3f4144 >> ~/.ssh/config",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "ssh", connect, _EXAMPLES, results=False, options_first=True)


def connect(
    context: typer.Context,
    execution_id: Id,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SERVICE] [-- ARGUMENTS]",
            help="Service such as worker, worker/2 or worker-2 (default: the one that ends the application, or the "
            "first); then, after --, options for ssh, or a command.",
        ),
    ] = None,
    config: Annotated[
        bool, typer.Option("--config", help="Print a block for ~/.ssh/config, for editors, scp and rsync.")
    ] = False,
    proxy: Annotated[
        Path | None,
        typer.Option("--proxy", metavar="DIRECTORY", help="Carry the bytes of ssh; ssh calls this itself."),
    ] = None,
) -> None:
    """Connect by ssh to a running service, as its user. Needs OpenSSH's client here, and an sshd in the service.

    No port is opened: the bytes go through the API. Options go before ID.
    """
    service, arguments = service_and_words(words or [])
    used = options(context)
    if proxy is not None:
        _carry(used, execution_id, service, proxy)
    with used.client() as client:
        user = _user_of(client, execution_id, service)
    host = "-".join(["zoe", execution_id, *([service.replace("/", "-")] if service else [])])
    if config:
        _print_configuration(used, execution_id, service, host, user)
    else:
        raise typer.Exit(_run_ssh(used, execution_id, service, host, user, arguments))


def _user_of(client: Client, execution_id: str, service: str | None) -> str:
    """Return the user name for ssh; exit if the service has no sshd, or the user no name."""
    from zoe_cli.commands.inside.ssh_server import CHECK
    from zoe_client.wire import TerminalOpening

    chosen = chosen_service(client.execution(execution_id), service)
    said = {False: b"", True: b""}
    with client.terminal(execution_id, chosen.id, TerminalOpening(command=["/bin/sh", "-c", CHECK])) as terminal:
        for is_error, data in terminal.outputs():
            said[is_error] = (said[is_error] + data)[:1000]
    name = said[False].decode(errors="replace").strip()
    if terminal.exit_code != 0 or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        note(said[True].decode(errors="replace").strip() or f"zoe: {terminal.message or 'the service has no sshd'}")
        raise typer.Exit(Exit.CONFLICT)
    return name


def _run_ssh(used: Options, execution_id: str, service: str | None, host: str, user: str, arguments: list[str]) -> int:
    """Run ssh with temporary keys; return its exit code."""
    from zoe_cli.commands.inside import ssh_keys

    with tempfile.TemporaryDirectory(prefix="zoe-ssh-") as name:
        directory = Path(name)
        proxy = _proxy_command([], execution_id, service, directory)
        try:
            ssh_keys.make_keys(directory, host)
            text = ssh_keys.configuration(directory, host, user, proxy)
            command = ["ssh", "-F", str(ssh_keys.write_configuration(directory, text)), host, *arguments]
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # standard input belongs to ssh
            try:
                return _exit_code(subprocess.call(command, env={**os.environ, **used.variables()}))
            finally:
                signal.signal(signal.SIGINT, before)
        except (ssh_keys.NoSshError, FileNotFoundError) as error:
            note(f"zoe: {error}")
            return Exit.USAGE


def _exit_code(code: int) -> int:
    return code if code >= 0 else 128 - code


def _print_configuration(used: Options, execution_id: str, service: str | None, host: str, user: str) -> None:
    from zoe_cli.commands.inside import ssh_keys

    before, hint = used.arguments()
    directory = ssh_keys.lasting_directory(host)
    try:
        ssh_keys.make_keys(directory, host)
    except ssh_keys.NoSshError as error:
        note(f"zoe: {error}")
        raise typer.Exit(Exit.USAGE) from None
    write(ssh_keys.configuration(directory, host, user, _proxy_command(before, execution_id, service, directory)))
    if hint:
        note(f"zoe: {hint}")


def _proxy_command(before: list[str], execution_id: str, service: str | None, directory: Path) -> list[str]:
    chosen = [] if service is None else [service]
    # Use this interpreter: an editor may have another PATH.
    return [sys.executable, "-m", "zoe_cli.main", *before, "ssh", "--proxy", str(directory), execution_id, *chosen]


def _carry(used: Options, execution_id: str, service: str | None, directory: Path) -> None:
    """Connect standard input and output to an sshd for this connection alone."""
    from zoe_cli import raw_terminal
    from zoe_cli.commands.inside.ssh_keys import HOST_KEY, KEY
    from zoe_cli.commands.inside.ssh_server import SERVE, set_up
    from zoe_client.wire import TerminalOpening

    try:
        keys = set_up((directory / f"{KEY}.pub").read_text("utf-8"), (directory / HOST_KEY).read_text("utf-8"))
    except OSError:
        note(f"zoe: the keys in {directory} are gone; run `zoe ssh --config` again")
        raise typer.Exit(Exit.USAGE) from None
    with used.client() as client:
        chosen = chosen_service(client.execution(execution_id), service)
        opening = TerminalOpening(command=["/bin/sh", "-c", SERVE])
        with client.terminal(execution_id, chosen.id, opening) as terminal:
            terminal.write(keys)
            raw_terminal.attach(terminal, in_terminal=False)
    if terminal.exit_code is None:
        note(f"zoe: {terminal.message}")
        raise typer.Exit(Exit.CONFLICT)
    raise typer.Exit(terminal.exit_code)
