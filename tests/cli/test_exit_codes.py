"""Every exit code of the table, and the words that come with it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.cli.conftest import APP, Zoe
from tests.cli.server import Server
from tests.support.postgres import PostgresServer
from zoe_cli.exits import MEANINGS, Exit, exit_of
from zoe_client import Busy, InvalidDescription, NotFound, Refused, TimedOut, Unreachable, ZoeError
from zoe_client.wire import Problem


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of an absent server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    monkeypatch.setenv("ZOE_URL", url)
    monkeypatch.delenv("ZOE_TOKEN", raising=False)
    return url


def test_codes_never_change() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0,
        "APPLICATION_FAILED": 1,
        "USAGE": 2,
        "NOT_FOUND": 3,
        "NOT_ALLOWED": 4,
        "CONFLICT": 5,
        "NEVER_FITS": 6,
        "WOULD_WAIT": 8,
        "DEADLINE": 9,
        "UNREACHABLE": 75,
        "TIMED_OUT": 124,
        "INTERRUPTED": 130,
        "BROKEN_PIPE": 141,
    }
    assert set(MEANINGS) == set(Exit)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound(Problem(title="t", status=404, code="c")), 3),
        (InvalidDescription(Problem(title="t", status=422, code="invalid_description")), 2),
        (Refused(Problem(title="t", status=413, code="too_large")), 2),
        (Refused(Problem(title="t", status=500, code="internal")), 75),
        (Busy(Problem(title="t", status=429, code="plan_busy")), 75),
        (Unreachable("away"), 75),
        (TimedOut("long"), 124),
        (ZoeError("an answer that nobody knows"), 75),
    ],
)
def test_code_of_errors(error: ZoeError, code: int) -> None:
    assert exit_of(error) == code


@pytest.mark.parametrize("arguments", [["ls"], ["show", "x"], ["wait", "x"], ["nodes"], ["token", "ls"], ["catalogue"]])
def test_without_a_server_it_says_what_to_do(nobody: str, zoe: Zoe, arguments: list[str]) -> None:
    for token in (None, "zoe_a_b"):
        done = zoe(*arguments, token=token)
        assert (done.code, done.out) == (75, "")
        assert nobody in done.err
        assert "make serve" in done.err
        assert "ZOE_URL" in done.err


def test_run_without_a_server(nobody: str, zoe: Zoe, app_file: Path) -> None:
    assert zoe("run", str(app_file)).code == 75
    assert zoe("validate", str(app_file)).code == 75
    assert zoe("validate", str(app_file), "--offline").code == 0


def test_without_a_token(server: Server, zoe: Zoe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZOE_TOKEN")
    done = zoe("ls")
    assert done.code == 4
    assert "ZOE_TOKEN_FILE" in done.err


def test_with_a_wrong_token(server: Server, zoe: Zoe) -> None:
    assert zoe("ls", token="zoe_wrong_secret").code == 4


def test_a_token_from_a_file(server: Server, zoe: Zoe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ZOE_TOKEN")
    (tmp_path / "token").write_text("zoe_admin_secret\n")
    (tmp_path / "token").chmod(0o640)
    refused = zoe("--token-file", str(tmp_path / "token"), "ls")
    assert (refused.code, "other users can read the token" in " ".join(refused.err.split())) == (2, True)
    (tmp_path / "token").chmod(0o600)
    assert zoe("--token-file", str(tmp_path / "token"), "ls").code == 0
    monkeypatch.setenv("ZOE_TOKEN_FILE", str(tmp_path / "token"))
    assert zoe("whoami", "-o", "name").out == "ada\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["ls", "--nonsense"],
        ["ls", "-o", "xml"],
        ["show"],
        ["show", ""],
        ["show", "a\nb"],
        ["run", "/does/not/exist.json"],
        ["run", "/"],
        ["run", "app.json", "--follow", "--timeout", "3"],
        ["--url", "localhost:5100", "ls"],
        ["--url", "ftp://localhost", "ls"],
        ["--token-file", "/does/not/exist", "--token", "", "ls"],
        ["token", "add", "--scope", "everything"],
        ["policy", "set", "order"],
        ["policy", "set", "colour=blue"],
        ["policy", "set", "ageing_s=soon"],
        ["policy", "set", "filters=labels"],
        ["completion", "tcsh"],
    ],
)
def test_wrong_use(server: Server, zoe: Zoe, arguments: list[str]) -> None:
    done = zoe(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err


@pytest.mark.parametrize("token", ["zoe a b", "zoe_a_b\nX: y", "zoe_ä_b"])
def test_a_token_that_is_none(server: Server, zoe: Zoe, token: str) -> None:
    assert zoe("ls", token=token).code == 2


def test_numbers_out_of_range(server: Server, zoe: Zoe, app_file: Path) -> None:
    done = zoe("run", str(app_file), "--priority", "5000")
    assert done.code == 2
    assert "priority" in done.err
    assert zoe("run", str(app_file), "--name", "n" * 500).code == 2


def test_oversized_component_has_exit_code_6(server: Server, zoe: Zoe, app_file: Path) -> None:
    for command in ("run", "validate"):
        done = zoe(command, str(app_file), "--set", "main.resources.memory=1TiB")
        assert (done.code, done.out) == (6, "")
        assert "1 TiB" in done.err


def test_all_errors_of_a_description_at_once(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    component = {**APP["components"][0], "total_count": 0, "colour": "blue"}  # type: ignore[index]
    file.write_text(json.dumps({**APP, "components": [component], "nome": 1}))
    for command in ("run", "validate"):
        done = zoe(command, str(file))
        assert (done.code, done.out) == (2, "")
        for pointer in ("/nome", "/components/0/colour", "/components/0/total_count"):
            assert pointer in done.err


def test_policy_changed_meanwhile_is_a_conflict(server: Server, zoe: Zoe, monkeypatch: pytest.MonkeyPatch) -> None:
    from zoe_client import Client

    read = Client.policy

    def raced(client: Client) -> object:
        policy = read(client)
        client.set_policy(policy)
        return policy

    monkeypatch.setattr(Client, "policy", raced)
    assert zoe("policy", "set", "order=fifo").code == 5


def test_unreachable_database(postgres_server: PostgresServer, database_url: str, server: Server, zoe: Zoe) -> None:
    """The server itself answers, so no other one has to be started or named."""
    with postgres_server.closed(database_url):
        for command in ("ls", "nodes"):
            done = zoe(command)
            assert done.code == 75
            assert "database" in done.err
            assert "--patience" in done.err
            assert "make serve" not in done.err
