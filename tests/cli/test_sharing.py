"""share, shares, unshare, and run --share over the real API."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.cli.server import OTHER, READER, Server

WARNING = "bob can run programs as its owner"


def test_a_share_is_made_listed_and_ended(zoe: Zoe, submitted: str) -> None:
    assert zoe("show", submitted, token=READER).code == 3
    made = zoe("share", submitted, "--with", "bob", "--as", "look", "-o", "json")
    assert (made.code, made.json()["level"], made.err) == (0, "look", "")
    assert zoe("show", submitted, token=READER).code == 0
    assert submitted in zoe("ls", "-o", "name", token=READER).out
    opened = zoe("share", submitted, "--with", "bob", "--as", "open")
    assert WARNING in opened.err
    assert zoe("share", submitted, "--with-tenant").code == 0
    listed = zoe("shares", submitted).out.splitlines()
    assert listed[0].split() == ["WITH", "AS", "SINCE"]
    assert [line.split("  ")[0] for line in listed[1:]] == ["(all members of the tenant)", "bob"]
    for arguments in (("--with", "bob"), ("--with-tenant",)):
        assert zoe("unshare", submitted, *arguments).code == 0
    assert zoe("shares", submitted, "-o", "json").json() == {"shares": []}
    for command in (("show",), ("logs",), ("why-waited",), ("events",), ("explain",)):
        assert zoe(*command, submitted, token=READER).code == 3, command
    assert submitted not in zoe("ls", "-o", "name", token=READER).out


def test_run_shares_what_it_submits(server: Server, zoe: Zoe, app_file: Path) -> None:
    done = zoe("run", str(app_file), "--share", "bob:control", "-o", "name")
    assert (done.code, WARNING in done.err) == (0, True)
    assert [(share.user, share.level) for share in server.store.accounts.shares(done.out.strip())] == [
        ("bob", "control")
    ]


@pytest.mark.parametrize("text", ["bob", "bob:", ":look", "bob:everything"])
def test_a_share_that_is_none_submits_nothing(server: Server, zoe: Zoe, app_file: Path, text: str) -> None:
    before = server.store.last_journal_id()
    done = zoe("run", str(app_file), "--share", text)
    assert (done.code, "USER:LEVEL" in done.err) == (2, True)
    assert server.store.last_journal_id() == before


def test_impossible_sharing_is_refused(zoe: Zoe, submitted: str) -> None:
    assert zoe("share", submitted).code == 2
    assert zoe("unshare", submitted, "--with", "bob", "--with-tenant").code == 2
    assert "not a member" in zoe("share", submitted, "--with", "eve").err
    assert "yourself" in zoe("share", submitted, "--with", "ada").err
    assert zoe("share", submitted, "--with", "bob", token=OTHER).code == 3
    assert "not shared" in zoe("unshare", submitted, "--with", "bob").err
