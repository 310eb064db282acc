"""The command zoe-setup: upgrade the database to this version, and make the first admin's token."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from zoe_lib.api_tokens import TokenText, add_admin_token, anybody_administers
from zoe_lib.config import Settings
from zoe_lib.file_settings import read_settings
from zoe_lib.store.accounts import AccountStore
from zoe_lib.store.errors import StoreError, StoreUnavailable
from zoe_lib.store.migrate import upgrade
from zoe_lib.store.postgres import PostgresStore

_NOTE = "first admin"


class SetupRefused(Exception):  # noqa: N818 - the name is the fact
    """The token cannot be used; the message says why and what to do."""


def main() -> int:
    """Do what is missing. If nothing is missing, do nothing: it may run at each start."""
    options = _options()
    url = read_settings(Settings, "zoe-setup").database_url.get_secret_value()
    try:
        token = _read(options.token_file) if options.token_file else None
        _until_there(url, options.wait_s)
        store = PostgresStore(url)
        try:
            print(first_token(store.accounts, token))
        finally:
            store.close()
    except (SetupRefused, StoreError) as refusal:
        print(f"zoe-setup: {refusal}", file=sys.stderr)
        return 1
    return 0


def first_token(accounts: AccountStore, chosen: TokenText | None) -> str:
    """Make the first token unless an admin already has one; return the message to print, with the
    token if it was made."""
    if anybody_administers(accounts, time.time()):
        return "an admin already has a token; nothing was made"
    token = chosen or TokenText.new()
    add_admin_token(accounts, token, _NOTE)
    return str(token) if chosen is None else f"the token {token.id} now administers this Zoe"


def _read(file: Path) -> TokenText:
    try:
        token = TokenText.read(file.read_text().strip())
    except OSError as error:
        raise SetupRefused(f"cannot read the token file: {error}") from None
    if token is None:
        raise SetupRefused(f"{file} does not contain a token: it must be one line, zoe_ID_SECRET")
    return token


def _until_there(url: str, wait_s: float) -> None:
    give_up_s = time.monotonic() + wait_s
    while True:
        try:
            return upgrade(url)
        except StoreUnavailable:
            if time.monotonic() > give_up_s:
                raise
            time.sleep(0.5)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="zoe-setup",
        description="Create or upgrade the database tables, and make the first admin's token if there is none.",
    )
    parser.add_argument("--token-file", type=Path, help="take the token from this file and do not print it")
    parser.add_argument("--wait-s", type=float, default=0.0, help="how long to wait for the database")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
