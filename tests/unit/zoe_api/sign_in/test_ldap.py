"""Which names a directory may treat as equal, and which entry a search finds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ldap3.core.exceptions import LDAPSizeLimitExceededResult

from tests.support.plain_api import refusal
from zoe_api.codes import Code
from zoe_api.sign_in.ldap import Ldap, alike
from zoe_lib.sign_in_settings import LdapSettings

SETTINGS = LdapSettings(url="ldaps://dir.example", base="dc=example", filter="(uid={user})", group_base="ou=groups")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ada", "ada"), ("a da", "ada"), ("ﬁ", "fi"), ("a\u200bda", "ada"), ("ada\0", "ada"), ("Straße", "STRASSE")],
)
def test_names_that_a_directory_may_treat_as_equal_are_alike(one: str, other: str) -> None:
    assert alike(one) == alike(other)


def test_other_names_differ() -> None:
    assert len({alike(name) for name in ("ada", "adam", "a.da", "a-da", "a_da", "ada1")}) == 6


class Search:
    def __init__(self, *entries: dict[str, Any]) -> None:
        self.response: Any = [{"type": "searchResEntry", **one} for one in entries] + [{"type": "searchResRef"}]
        self.asked: list[Any] = []

    def search(self, *given: Any, **more: Any) -> None:
        self.asked.append((*given, more))


def found(*entries: dict[str, Any], user: str = "ada") -> Any:
    search = Search(*entries)
    return Ldap("dir", SETTINGS)._find(search, user), search.asked[0][1]


@pytest.mark.parametrize(
    ("value", "subject"),
    [("u1", "u1"), (["u1", "u2"], "u1"), ([], "uid=ada,dc=example"), (None, "uid=ada,dc=example"), (5, "5")],
)
def test_one_entry_is_the_user(value: Any, subject: str) -> None:
    entry = {"dn": "UID=ada,dc=example", "attributes": {SETTINGS.subject_attribute: value}}
    assert found(entry)[0] == ("UID=ada,dc=example", subject)


def test_none_and_several_entries_are_no_user() -> None:
    entry = {"dn": "x", "attributes": {}}
    assert found()[0] is None
    assert found(entry, entry)[0] is None
    empty = SimpleNamespace(search=lambda *_, **__: None, response=None)
    assert Ldap("dir", SETTINGS)._find(empty, "ada") is None


def test_a_name_cannot_change_the_filter() -> None:
    assert found(user="*)(uid=*")[1] == r"(uid=\2a\29\28uid=\2a)"


def test_groups_are_texts_of_one_or_several_values() -> None:
    attribute = SETTINGS.group_attribute
    search = Search(
        {"attributes": {attribute: ["ops", "staff"]}}, {"attributes": {attribute: "all"}}, {"attributes": {}}
    )
    assert Ldap("dir", SETTINGS)._groups(search, "x") == {"ops", "staff", "all"}
    alone = SETTINGS.model_copy(update={"group_base": ""})
    assert Ldap("dir", alone)._groups(search, "x") == frozenset()


@pytest.mark.parametrize(("user", "password"), [("ada", ""), ("", "x")])
def test_without_a_password_or_a_name_nobody_is_asked(user: str, password: str) -> None:
    assert Ldap("dir", SETTINGS).identity(user, password) is None


def test_a_subject_is_looked_for_among_the_entries_that_may_sign_in() -> None:
    search = Search()
    assert Ldap("dir", SETTINGS)._find_subject(search, "a*b") is None
    assert search.asked[0][1] == r"(&(uid=*)(entryUUID=a\2ab))"


def test_groups_that_the_directory_does_not_send_are_not_taken_for_none() -> None:
    def search(*_: object, **__: object) -> None:
        raise LDAPSizeLimitExceededResult

    with refusal(Code.PROVIDER_UNAVAILABLE) as found:
        Ldap("dir", SETTINGS)._groups(SimpleNamespace(search=search), "x")
    assert "more groups of this user than it sends" in found.problem.detail
