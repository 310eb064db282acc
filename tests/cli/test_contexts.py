"""zoe login, logout, context: stored servers and tokens, and overrides."""

from __future__ import annotations

import stat
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.cli.conftest import Zoe
from tests.cli.server import ADMIN, READER, Server
from tests.support.waiting import until
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import MachineSignIn, Session, Token
from zoe_lib.store.tables.accounts import machine_sign_ins
from zoe_lib.tokens.api_tokens import TokenText


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "config" / "zoe" / "contexts.json"


@pytest.fixture
def laptop(zoe: Zoe, server: Server, monkeypatch: pytest.MonkeyPatch) -> Zoe:
    """Configure a command line without a server in the environment."""
    assert server.url
    monkeypatch.setenv("ZOE_URL", "")
    monkeypatch.delenv("ZOE_TOKEN")
    return zoe


def one_line(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_after_login_commands_need_nothing_else(laptop: Zoe, server: Server, kept: Path) -> None:
    signed_in = laptop("login", server.url + "/", stdin=f"{READER}\n".encode())
    assert signed_in.code == 0, signed_in.err
    assert READER not in signed_in.out + signed_in.err
    assert laptop("whoami", "-o", "json").json()["user"] == "bob"
    assert laptop("ls").code == 0
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_a_token_that_the_server_refuses_is_not_kept(laptop: Zoe, server: Server, kept: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("zoe_nobody_x")
    file.chmod(0o600)
    assert laptop("login", server.url, "--token-file", str(file)).code == 4
    assert laptop("login", server.url, stdin=b"two words").code == 2
    assert laptop("login", "zoe.example.org", stdin=b"x").code == 2
    assert not kept.exists()


def test_contexts_are_listed_used_and_removed(laptop: Zoe, server: Server) -> None:
    laptop("login", server.url, "--name", "lab", stdin=READER.encode())
    assert laptop("context", "add", "cloud", "https://zoe.example.org/").code == 0
    assert laptop("context", "list", "-o", "json").json() == {
        "current": "lab",
        "contexts": [
            {"name": "cloud", "url": "https://zoe.example.org", "signed_in": False},
            {"name": "lab", "url": server.url, "signed_in": True},
        ],
    }
    assert laptop("context", "use", "cloud").code == 0
    assert laptop("context", "list", "-o", "json").json()["current"] == "cloud"
    assert laptop("--context", "lab", "ls").code == 0
    assert laptop("context", "remove", "cloud").code == 0
    assert laptop("context", "list", "-o", "name").out == "lab\n"
    missing = laptop("context", "use", "cloud")
    assert (missing.code, "there is no context 'cloud'; there are: lab" in one_line(missing.err)) == (2, True)


def test_variables_come_before_the_context_in_use(laptop: Zoe, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def user(*more: str) -> str:
        return str(laptop(*more, "whoami", "-o", "json").json()["user"])

    laptop("login", server.url, "--name", "lab", stdin=READER.encode())
    monkeypatch.setenv("ZOE_TOKEN", ADMIN)
    assert user() == "ada"  # the token of the environment, for the server of the context
    assert user("--context", "lab") == "bob"  # a context asked for by name comes first
    monkeypatch.delenv("ZOE_TOKEN")
    laptop("context", "add", "cloud", "http://127.0.0.1:1")
    laptop("context", "use", "cloud")
    monkeypatch.setenv("ZOE_CONTEXT", "lab")
    assert user() == "bob"
    monkeypatch.setenv("ZOE_URL", "http://127.0.0.1:1")
    assert laptop("whoami").code == 75


def test_a_token_goes_to_no_other_server(laptop: Zoe, server: Server) -> None:
    laptop("login", server.url, "--name", "lab", stdin=READER.encode())
    refused = laptop("--url", server.url.replace("127.0.0.1", "localhost"), "whoami")
    assert (refused.code, "A token is required" in refused.err) == (4, True)
    assert laptop("--url", server.url + "/", "whoami").code == 0


def test_logout_forgets_the_token_and_may_revoke_it(laptop: Zoe, server: Server) -> None:
    text = "zoe_laptop_secret"
    token = TokenText.read(text)
    assert token is not None
    server.store.accounts.add_token(
        Token(token.id, "eve", "other", token.secret_hash, frozenset({Scope.READ, Scope.SUBMIT}), 0.0, None, "laptop")
    )
    assert laptop("login", server.url, "--name", "lab", stdin=text.encode()).code == 0
    assert laptop("logout").code == 0
    signed_out = laptop("--url", server.url, "whoami")
    assert (signed_out.code, "A token is required" in signed_out.err) == (4, True)
    assert laptop("context", "list", "-o", "name").out == "lab\n"
    laptop("login", server.url, stdin=text.encode())
    assert laptop("logout", "--revoke").code == 0
    assert laptop("login", server.url, stdin=text.encode()).code == 4


@pytest.mark.parametrize("text", ["{", "[]", '{"contexts": {"lab": {}}}', '{"contexts": []}'])
def test_a_file_that_is_none_of_contexts_is_named(laptop: Zoe, kept: Path, text: str) -> None:
    kept.parent.mkdir(parents=True)
    kept.write_text(text)
    refused = laptop("ls")
    assert (refused.code, "not a file of contexts" in one_line(refused.err)) == (2, True)
    assert kept.read_text() == text


@contextmanager
def somebody_decides(server: Server, allow: bool) -> Iterator[list[MachineSignIn]]:
    """Let Bob, in a browser, find the waiting machine, and decide."""
    found: list[MachineSignIn] = []
    accounts, now_s = server.store.accounts, time.time()
    session = Session(f"session-{now_s}", "bob", "lab", now_s, now_s + 60, None)
    accounts.add_session(session)

    def decide() -> None:
        until(lambda: machines_that_wait(server) != [])
        found.extend(machines_that_wait(server))
        accounts.decide_machine(found[0].code, session.id if allow else None, time.time())

    thread = threading.Thread(target=decide)
    thread.start()
    try:
        yield found
    finally:
        thread.join(30)
        accounts.end_session(session.id)


def machines_that_wait(server: Server) -> list[MachineSignIn]:
    """Return the undecided machines."""
    accounts = server.store.accounts
    codes = accounts.database.look(
        lambda connection: connection.execute(select(machine_sign_ins.c.code)).scalars().all()
    )
    found = [accounts.machine_sign_in(code, time.time()) for code in codes]
    return [entry for entry in found if entry is not None]


def test_a_browser_allows_this_machine(
    laptop: Zoe, server: Server, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with somebody_decides(server, allow=True) as asked:
        signed_in = laptop("login", server.url, "--browser", "--scope", "read", "--lifetime", "3600")
    assert signed_in.code == 0, signed_in.err
    code = f"{asked[0].code[:4]}-{asked[0].code[4:]}"
    assert opened == [f"{server.url}/machine?code={code}"]
    lines = signed_in.err.splitlines()
    assert f"Open {server.url}/machine?code={code}" in lines
    assert f"and allow this machine there if you see this code:  {code}" in lines
    assert laptop("whoami", "-o", "json").json()["user"] == "bob"
    [token] = [token for token in server.store.accounts.tokens("bob") if token.note.startswith("zoe login on ")]
    assert (token.scopes, token.expires_at_s) == ({"read"}, pytest.approx(time.time() + 3600, abs=60))
    assert laptop("logout", "--revoke").code == 0
    assert token.id not in {token.id for token in server.store.accounts.tokens("bob")}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_machine_that_is_refused_keeps_nothing(
    laptop: Zoe, server: Server, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: pytest.fail("no browser is wanted"))
    with somebody_decides(server, allow=False):
        refused = laptop("login", server.url, "--no-browser")
    assert (refused.code, "this machine was refused" in refused.err) == (4, True)
    assert not kept.exists()
