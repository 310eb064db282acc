"""Effects of a directory's answers about signed-in users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.plain_api import services
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in import directory_watch
from zoe_api.people.sign_in.directory_watch import ASK_EVERY_S, DirectoryWatch
from zoe_api.people.sign_in.identity import Identity
from zoe_lib.store.people import AuditEntry, User

RULES = [
    {"provider": "corp", "tenant": "red", "role": "viewer"},
    {"provider": "corp", "tenant": "red", "group": "ops", "role": "operator"},
]


class Accounts:
    """The due users, and the changes made to them."""

    def __init__(self, *due: str) -> None:
        self.due = [User(name, provider="corp", subject=f"subject of {name}") for name in due]
        self.asked: list[tuple[str, float, float]] = []
        self.ended: list[tuple[str, AuditEntry]] = []
        self.roles: dict[str, Any] = {}
        self.open_again: list[str] = []

    def claim_unconfirmed(self, provider: str, before_s: float, now_s: float, at_most: int) -> Sequence[User]:
        self.asked.append((provider, before_s, now_s))
        due, self.due = self.due[:at_most], self.due[at_most:]
        return due

    def unconfirm(self, names: Sequence[str]) -> None:
        self.open_again += names

    def end_unknown(self, user: str, entry: AuditEntry) -> int:
        self.ended.append((user, entry))
        return 1

    def adopt(self, user: User, roles: Any, managed: Any, change: AuditEntry) -> User:
        self.roles[user.name] = (user.subject, roles, managed)
        return user


class Directory:
    def __init__(self, **groups: Any) -> None:
        self.groups = groups

    def still(self, user: str, subject: str) -> Identity | None:
        found = self.groups.get(user)
        if found == "away":
            raise ApiProblem(Code.PROVIDER_UNAVAILABLE)
        return None if found is None else Identity("corp", subject, user, frozenset(found))


def looked(accounts: Accounts, directory: Directory) -> None:
    settings = services(
        ldap={"corp": {"url": "ldaps://d", "base": "x", "filter": "(uid={user})"}}, sign_in_roles=RULES
    ).settings
    DirectoryWatch(settings, accounts, {"corp": directory}).look(5000.0)  # type: ignore[arg-type]


def test_a_user_who_left_is_signed_out_and_others_have_the_roles_of_their_groups() -> None:
    accounts = Accounts("ada", "ben", "cleo")
    looked(accounts, Directory(ada=["ops"], cleo=[]))
    ((user, entry),) = accounts.ended
    assert (user, entry.action, entry.by, entry.user) == ("ben", "end_unknown_user", "corp", "ben")
    assert accounts.roles == {
        "ada": ("subject of ada", {"red": "operator"}, {"red"}),
        "cleo": ("subject of cleo", {"red": "viewer"}, {"red"}),
    }
    assert accounts.asked == [("corp", 5000.0 - ASK_EVERY_S, 5000.0)]


def test_a_directory_that_is_away_signs_nobody_out_and_is_asked_again() -> None:
    accounts = Accounts("ada", "ben", "cleo")
    looked(accounts, Directory(ada=["ops"], ben="away"))
    assert accounts.ended == []
    assert accounts.open_again == ["ben", "cleo"]


def test_more_users_than_one_batch_are_asked_about_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_watch, "_BATCH_MAX", 2)
    accounts = Accounts("ada", "ben", "cleo")
    looked(accounts, Directory())
    assert [user for user, _ in accounts.ended] == ["ada", "ben", "cleo"]
