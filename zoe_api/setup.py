"""The command zoe-setup: upgrade the database to this version, make the first admin's token, back up and restore."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.sealing import KEY_FILE
from zoe_lib.settings.config import Settings
from zoe_lib.settings.file_settings import read_settings
from zoe_lib.store.backup.backup import back_up, foreign_tables
from zoe_lib.store.backup.manifest import Manifest
from zoe_lib.store.backup.restore import restore
from zoe_lib.store.backup.signature import check_key, sign, signature_of
from zoe_lib.store.errors import StoreError, StoreUnavailable
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.migrate import upgrade
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.tokens.api_tokens import TokenText, add_admin_token, has_valid_admin_token

_NOTE = "first admin"


class SetupRefused(Exception):  # noqa: N818 - the name is the fact
    """The token cannot be used; the message says why and what to do."""


def main() -> int:
    """Do the missing steps, or the given subcommand. Without missing steps it changes nothing: it may run at each
    start.
    """
    options = _options()
    settings = read_settings(Settings, "zoe-setup")
    commands: dict[str | None, Callable[[argparse.Namespace, Settings], str]] = {
        None: _set_up,
        "backup": _back_up,
        "restore": _restore,
    }
    try:
        print(commands[options.command](options, settings))
    except (SetupRefused, StoreError) as refusal:
        print(f"zoe-setup: {refusal}", file=sys.stderr)
        return 1
    return 0


def _set_up(options: argparse.Namespace, settings: Settings) -> str:
    url = settings.database_url.get_secret_value()
    token = _read(options.token_file) if options.token_file else None
    _until_there(url, options.wait_s)
    store = PostgresStore(url)
    try:
        said = first_token(store.accounts, token)
    finally:
        store.close()
    _print_redirect_uris(settings)
    _print_ldap_clients(settings)
    return said


def _print_redirect_uris(settings: Settings) -> None:
    """Print an admin's next steps for several OpenID Connect providers: standard output may be read as the token."""
    if len(settings.oidc) < 2:
        return
    # Only if needed: importing it takes longer than the rest.
    from zoe_api.people.sign_in.redirect_uris import redirect_uris

    for name, uri in redirect_uris(settings).items():
        print(f"zoe-setup: register at the provider {name} the redirect URI {uri}", file=sys.stderr)


def _print_ldap_clients(settings: Settings) -> None:
    """Print the client of each LDAP directory."""
    if not settings.ldap:
        return
    from zoe_api.people.sign_in.ldap_clients.chosen import ClientMissing, clients

    try:
        for name, client in clients(settings).items():
            print(f"zoe-setup: the directory {name} is asked by {client}", file=sys.stderr)
    except ClientMissing as refusal:
        raise SetupRefused(str(refusal)) from None


def _back_up(options: argparse.Namespace, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> str:
    url, keys_dir = settings.database_url.get_secret_value(), Path(settings.keys_dir)
    if options.sign_with is not None:
        check_key(options.file, options.sign_with)
    made = back_up(url, options.file, keys_dir / KEY_FILE, version("zoe-analytics"), clock.now_s())
    if options.sign_with is not None:
        sign(options.file, options.sign_with)
    key = (
        f"{KEY_FILE}, which decrypts the stored credentials"
        if (keys_dir / KEY_FILE).exists()
        else "no key: none was made"
    )
    signed = f"; its signature is {signature_of(options.file)}" if options.sign_with is not None else ""
    return f"""{options.file}: backup of {_describe_backup(made)}, mode 600{signed}
It contains: the database; {key}
It does not contain: the settings and the files that they name, keys of master and API (made again if missing),
workspaces, volumes and kept output, tables of the storage controller{_left_out(url)}"""


def _left_out(url: str) -> str:
    foreign = foreign_tables(url)
    return f", and tables that are not Zoe's: {', '.join(foreign)}" if foreign else ""


def _restore(options: argparse.Namespace, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> str:
    url = settings.database_url.get_secret_value()
    keys_dir = Path(settings.keys_dir)
    done = restore(url, options.file, keys_dir, clock.now_s(), options.signers)
    missing = f"No {KEY_FILE} was in it: one is made when it is needed.\n"
    signed = f"{done.signed}\n" if done.signed else ""
    left_out = f"Left out, because they are not tables of Zoe: {', '.join(done.left_out)}\n" if done.left_out else ""
    return f"""restored {_describe_backup(done.manifest)}
{signed}{left_out}\
{"" if (keys_dir / KEY_FILE).exists() else missing}\
Tokens, sessions and roles are those of that time: repeat later revocations. Now start master and API."""


def _describe_backup(made: Manifest) -> str:
    moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(made.at_s))
    return f"{made.rows('executions')} executions, {moment}, version {made.version}, revision {made.revision}"


def first_token(accounts: AccountStore, chosen: TokenText | None, clock: Clock = SYSTEM_CLOCK) -> str:
    """Make the first token unless an admin already has one; return the message to print, with the
    token if it was made."""
    if has_valid_admin_token(accounts, clock.now_s()):
        return "an admin already has a token; nothing was made"
    token = chosen or TokenText.new()
    add_admin_token(accounts, token, _NOTE, clock=clock)
    return str(token) if chosen is None else f"the token {token.id} now administers this Zoe"


def _read(file: Path) -> TokenText:
    try:
        token = TokenText.read(file.read_text().strip())
    except OSError as error:
        raise SetupRefused(f"cannot read the token file: {error}") from None
    if token is None:
        raise SetupRefused(f"{file} does not contain a token: it must be one line, zoe_ID_SECRET")
    return token


def _until_there(url: str, wait_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
    give_up_s = clock.monotonic_s() + wait_s
    while True:
        try:
            return upgrade(url)
        except StoreUnavailable:
            if clock.monotonic_s() > give_up_s:
                raise
            clock.sleep(0.5)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="zoe-setup",
        description="Create or upgrade the database tables, and make the first admin's token if there is none.",
    )
    parser.add_argument("--token-file", type=Path, help="take the token from this file and do not print it")
    parser.add_argument("--wait-s", type=float, default=0.0, help="how long to wait for the database")
    commands = parser.add_subparsers(dest="command", title="commands instead of that", metavar="COMMAND")
    backup = commands.add_parser("backup", help="write the database and the key of credentials to one file")
    backup.add_argument("file", type=Path, help="a new file; it will contain secrets, and only you may read it")
    backup.add_argument("--sign-with", type=Path, metavar="KEY", help="sign it by ssh-keygen with this private key")
    restoring = commands.add_parser("restore", help="fill an empty database with a backup of this or an older version")
    restoring.add_argument("file", type=Path, help="a file that zoe-setup backup made")
    help_of_signers = "refuse a backup that none of these signed: a file of allowed signers, as of ssh-keygen"
    restoring.add_argument("--signers", type=Path, metavar="FILE", help=help_of_signers)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
