"""`make serve` signs its account in, and takes no other context's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_client.contexts import Context, Contexts, read_contexts, write_contexts
from zoe_embedded.demos.own_context import keep_context

URL, OTHER = "http://127.0.0.1:5100", "http://127.0.0.1:5101"


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "token").write_text("secret\n")
    return tmp_path / "token"


def test_the_only_context_is_in_use(token: Path) -> None:
    assert keep_context(URL, token, Path("/homes/a"), chosen=False) == "zoe"
    assert keep_context(OTHER, token, Path("/homes/a"), chosen=False) == "zoe", "the port has changed"
    assert read_contexts() == Contexts({"serve": Context(OTHER, "secret")}, "serve")


def test_another_context_stays_in_use_and_homes_do_not_share(token: Path) -> None:
    write_contexts(Contexts({"site": Context("https://zoe.example.org", "t")}, "site"))
    assert keep_context(URL, token, Path("/homes/a"), chosen=False) == "zoe --context serve"
    assert keep_context(OTHER, token, Path("/homes/b"), chosen=True) == "zoe --context serve-b"
    found = read_contexts()
    assert (found.current, found.get("serve").url, found.get("serve-b").url) == ("site", URL, OTHER)
