"""Equal names of a directory, and the entry that a search finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from tests.support.plain_api import refusal
from zoe_api.http.problems.codes import Code
from zoe_api.people.sign_in.ldap import Ldap, _binds, comparable_name
from zoe_api.people.sign_in.ldap_clients.base import DirectoryFailed, Entry
from zoe_api.people.sign_in.ldap_clients.bonsai_client import BonsaiClient
from zoe_api.people.sign_in.ldap_clients.chosen import ClientMissing, client_of, clients
from zoe_lib.settings.sign_in_settings import LdapSettings

SETTINGS = LdapSettings(url="ldaps://dir.example", base="dc=example", filter="(uid={user})", group_base="ou=groups")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ada", "ada"), ("a da", "ada"), ("ﬁ", "fi"), ("a\u200bda", "ada"), ("ada\0", "ada"), ("Straße", "STRASSE")],
)
def test_names_that_a_directory_may_treat_as_equal_are_alike(one: str, other: str) -> None:
    assert comparable_name(one) == comparable_name(other)


def test_other_names_differ() -> None:
    assert len({comparable_name(name) for name in ("ada", "adam", "a.da", "a-da", "a_da", "ada1")}) == 6


class Search:
    """A session that finds these entries, or fails with a result."""

    def __init__(self, *entries: Entry, code: int | None = None) -> None:
        self.entries, self.code = entries, code
        self.asked: list[str] = []

    def search(self, base: str, entry_filter: str, attribute: str, entries_max: int = 0) -> Sequence[Entry]:
        self.asked.append(entry_filter)
        if self.code is not None:
            raise DirectoryFailed("", self.code)
        return self.entries

    def bind(self, dn: str, password: str) -> None:
        if self.code is not None:
            raise DirectoryFailed("", self.code)


class Client:
    """Yields one session."""

    def __init__(self, search: Search) -> None:
        self._search = search

    @contextmanager
    def session(self, until_s: float) -> Iterator[Search]:
        yield self._search


def directory(search: Search, settings: LdapSettings = SETTINGS) -> Ldap:
    return Ldap("dir", settings, client=Client(search))


@pytest.mark.parametrize(
    ("values", "subject"), [(("u1",), "u1"), (("u1", "u2"), "u1"), ((), "uid=ada"), (("",), "uid=ada")]
)
def test_one_entry_is_the_user(values: tuple[str, ...], subject: str) -> None:
    search = Search(Entry("UID=ada", values))
    assert directory(search)._find(search, "ada") == ("UID=ada", subject)


@pytest.mark.parametrize("entries", [(), (Entry("x", ()), Entry("y", ())), (Entry("", ("1",)),), (Entry("x\0", ()),)])
def test_none_and_several_entries_are_no_user_nor_is_one_without_a_dn(entries: tuple[Entry, ...]) -> None:
    search = Search(*entries)
    assert directory(search)._find(search, "ada") is None


def test_more_entries_than_the_directory_sends_are_several() -> None:
    search = Search(code=4)
    assert directory(search)._find(search, "ada") is None


def test_a_name_cannot_change_the_filter() -> None:
    search = Search()
    directory(search)._find(search, "*)(uid=\\*\0")
    assert search.asked == [r"(uid=\2a\29\28uid=\5c\2a\00)"]


def test_groups_are_all_values_of_all_entries() -> None:
    search = Search(Entry("a", ("ops", "staff")), Entry("b", ("all",)), Entry("c", ()))
    assert directory(search)._groups(search, "x") == {"ops", "staff", "all"}
    alone = SETTINGS.model_copy(update={"group_base": ""})
    assert directory(search, alone)._groups(search, "x") == frozenset()


@pytest.mark.parametrize(
    ("user", "password"), [("ada", ""), ("", "x"), ("ada", "\0"), ("ada", "x\0y"), ("a\0", "x"), ("ada", "\ud83d")]
)
def test_without_a_password_or_a_name_nobody_is_asked(user: str, password: str) -> None:
    search = Search(Entry("x", ("1",)))
    assert directory(search).identity(user, password) is None
    assert search.asked == []


def test_a_subject_is_looked_for_among_the_entries_that_may_sign_in() -> None:
    search = Search()
    assert directory(search)._find_subject(search, "a*b") is None
    assert search.asked == [r"(&(uid=*)(entryUUID=a\2ab))"]


def test_groups_that_the_directory_does_not_send_are_not_taken_for_none() -> None:
    search = Search(code=4)
    with refusal(Code.PROVIDER_UNAVAILABLE) as found:
        directory(search)._groups(search, "x")
    assert "more groups of this user than it sends" in found.problem.detail


@pytest.mark.parametrize(
    ("code", "is_refusal"), [(49, True), (48, True), (32, True), (53, True), (8, False), (52, False)]
)
def test_a_refused_bind_is_a_wrong_password_and_a_fault_is_not(code: int, is_refusal: bool) -> None:
    if is_refusal:
        assert not _binds(Search(code=code), "uid=ada", "x")
    else:
        with pytest.raises(DirectoryFailed):
            _binds(Search(code=code), "uid=ada", "x")


def test_the_client_of_a_directory_must_be_installed() -> None:
    bonsai = SETTINGS.model_copy(update={"client": "bonsai"})
    assert clients(SimpleNamespace(ldap={"dir": SETTINGS})) == {"dir": f"ldap3 {version('ldap3')}"}
    with pytest.raises(ClientMissing, match=r"install zoe-analytics\[bonsai\]"):
        clients(SimpleNamespace(ldap={"dir": bonsai}))
    assert isinstance(client_of(bonsai), BonsaiClient)
