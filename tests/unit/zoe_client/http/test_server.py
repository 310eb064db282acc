"""The server of a client that names none."""

from __future__ import annotations

from pathlib import Path

import pytest

import zoe_client
from zoe_client.contexts import Context, ContextError, Contexts, write_contexts
from zoe_client.http.server import DEFAULT_URL, chosen_server

HERE, THERE = "http://here:5100", "http://there:5100"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ZOE_URL", "ZOE_TOKEN", "ZOE_TOKEN_FILE", "ZOE_API_URL", "ZOE_API_TOKEN_FILE", "ZOE_EXECUTION_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_variables_come_before_the_context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_contexts(Contexts().having("here", Context(HERE, "kept")))
    assert chosen_server(None, None) == (HERE, "kept")
    assert repr(zoe_client.Client()) == f"Client({HERE!r})"
    file = tmp_path / "token"
    file.write_text("in a file\n")
    monkeypatch.setenv("ZOE_TOKEN_FILE", str(file))
    assert chosen_server(None, None) == (HERE, "in a file")
    monkeypatch.setenv("ZOE_URL", THERE)
    assert chosen_server(None, None) == (THERE, "in a file")
    monkeypatch.setenv("ZOE_TOKEN", "set")
    assert chosen_server(None, None) == (THERE, "set")
    assert chosen_server(HERE, "given") == (HERE, "given")


def test_a_token_goes_to_its_own_server_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_contexts(Contexts().having("here", Context(HERE, "kept")))
    with pytest.raises(ContextError, match="there is no token"):
        chosen_server(THERE, None)
    monkeypatch.setenv("ZOE_URL", HERE)
    monkeypatch.setenv("ZOE_TOKEN", "set")
    with pytest.raises(ContextError, match="there is no token"):
        chosen_server(THERE, None)


def test_a_service_uses_its_own_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "token"
    monkeypatch.setenv("ZOE_API_URL", HERE)
    monkeypatch.setenv("ZOE_API_TOKEN_FILE", str(file))
    with pytest.raises(ContextError, match="cannot read the token"):
        chosen_server(None, None)
    file.write_text("zoejob_x")
    assert chosen_server(None, None) == (HERE, "zoejob_x")
    with pytest.raises(ContextError, match="there is no token"):
        chosen_server(THERE, None)
    monkeypatch.setenv("ZOE_EXECUTION_ID", "x1")
    with pytest.raises(ContextError, match='give its component `"api": "jobs"`'):
        chosen_server(THERE, None)


def test_without_a_context_the_default_server_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_TOKEN", "set")
    assert chosen_server(None, None) == (DEFAULT_URL, "set")


def test_the_package_lists_its_names() -> None:
    assert {"Client", "AsyncClient", "ZoeError"} <= set(dir(zoe_client))


def test_an_address_without_a_scheme_is_named() -> None:
    with pytest.raises(ValueError, match="'notaurl' is not an address such as"):
        zoe_client.Client("notaurl", "token")


def test_a_missing_token_is_an_error_of_the_sdk() -> None:
    with pytest.raises(zoe_client.ZoeError):
        zoe_client.Client()
