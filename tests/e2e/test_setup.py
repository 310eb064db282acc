"""zoe-setup on an empty database: tables, the first admin's token, and nothing more when it is run again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.postgres import PostgresServer
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.postgres.migrate import up_to_date
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.tokens.api_tokens import TokenText

SETUP = Path(sys.executable).with_name("zoe-setup")


@pytest.fixture
def url(postgres_server: PostgresServer) -> Iterator[str]:
    made = postgres_server.create_empty_database()
    yield made
    postgres_server.drop_database(made)


def setup(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SETUP), *arguments],
        env={**os.environ, "ZOE_DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def administers(url: str, text: TokenText) -> bool:
    with closing(PostgresStore(url)) as store:
        found = store.accounts.principal(text.id, time.time())
    return found is not None and Scope.ADMIN in found[0].scopes and found[1] == text.secret_hash


def test_it_makes_tables_and_one_token(url: str) -> None:
    done = setup(url)
    assert done.returncode == 0, done.stderr
    token = TokenText.read(done.stdout.strip())
    assert token is not None
    assert administers(url, token)
    assert up_to_date(url)
    again = setup(url)
    assert again.returncode == 0
    assert "nothing was made" in again.stdout


def test_a_token_that_was_made_before_is_taken_from_its_file_and_not_told(url: str, tmp_path: Path) -> None:
    token = TokenText.new()
    (tmp_path / "token").write_text(f"{token}\n")
    done = setup(url, "--token-file", str(tmp_path / "token"))
    assert done.returncode == 0, done.stderr
    assert token.secret not in done.stdout + done.stderr
    assert administers(url, token)


def test_a_revoked_first_token_does_not_come_back(url: str, tmp_path: Path) -> None:
    first, second = TokenText.new(), TokenText.new()
    (tmp_path / "token").write_text(str(first))
    assert setup(url, "--token-file", str(tmp_path / "token")).returncode == 0
    with closing(PostgresStore(url)) as store:
        kept = store.accounts.tokens()[0]
        store.accounts.add_token(
            type(kept)(second.id, kept.user, kept.tenant, second.secret_hash, kept.scopes, time.time())
        )
        store.accounts.revoke_token(first.id)
    assert setup(url, "--token-file", str(tmp_path / "token")).returncode == 0
    assert not administers(url, first)
    assert administers(url, second)


def test_an_expired_or_lesser_token_does_not_count(url: str) -> None:
    assert setup(url).returncode == 0
    with closing(PostgresStore(url)) as store:
        kept = store.accounts.tokens()[0]
        store.accounts.revoke_token(kept.id)
        for scopes, end_s in ((kept.scopes, time.time() - 1), (frozenset({"read"}), None)):
            text = TokenText.new()
            store.accounts.add_token(type(kept)(text.id, kept.user, kept.tenant, text.secret_hash, scopes, 0.0, end_s))
    made = TokenText.read(setup(url).stdout.strip())
    assert made is not None
    assert administers(url, made)


def test_a_file_without_a_token_is_refused(url: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hunter2\n")
    done = setup(url, "--token-file", str(tmp_path / "token"))
    assert done.returncode == 1
    assert "does not contain a token" in done.stderr
    assert "hunter2" not in done.stderr


def test_a_database_that_is_away_is_told(tmp_path: Path) -> None:
    done = setup(f"postgresql:///zoe?host={tmp_path}", "--wait-s", "0.1")
    assert done.returncode == 1
    assert "zoe-setup:" in done.stderr
    assert "Traceback" not in done.stderr
