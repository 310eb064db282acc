"""Roles and user names of external identities."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import REQUEST_ID, refusal, request
from zoe_api.http.problems.codes import Code
from zoe_api.people.sign_in.identity import Identity, admit, roles_of
from zoe_lib.settings.sign_in_settings import RoleRule
from zoe_lib.store.errors import ConcurrentUpdate, Unstorable
from zoe_lib.store.people import User

ADA = Identity("sso", "subject-1", "Ada", frozenset({"staff", "ops"}))


def rule(tenant: str, role: str, group: str | None = None, provider: str = "sso") -> RoleRule:
    return RoleRule(provider=provider, tenant=tenant, role=role, group=group)


RULES = [
    rule("red", "viewer"),
    rule("red", "operator", "ops"),
    rule("red", "user", "staff"),
    rule("blue", "user", "staff"),
    rule("green", "admin", "bosses"),
    rule("grey", "admin", None, "other"),
]


def test_the_highest_role_of_each_tenant_counts_in_any_order() -> None:
    for rules in (RULES, RULES[::-1]):
        assert roles_of(ADA, rules) == {"red": "operator", "blue": "user"}
    assert roles_of(Identity("sso", "s", "eve"), RULES) == {"red": "viewer"}
    assert roles_of(Identity("nowhere", "s", "eve"), RULES) == {}


class Adopting:
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def adopt(self, *given: Any) -> User:
        self.asked.append(given)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def admitted(answer: Any, identity: Identity = ADA) -> tuple[str, Adopting]:
    accounts = Adopting(answer)
    return admit(accounts, identity, RULES, request(path="/sign-in")), accounts


def test_a_user_is_adopted_under_a_name_in_small_letters() -> None:
    name, accounts = admitted(User("ada"))
    ((user, roles, tenants, entry),) = accounts.asked
    assert name == "ada"
    assert (user.name, user.provider, user.subject, user.password_hash) == ("ada", "sso", "subject-1", None)
    assert (roles, tenants) == ({"red": "operator", "blue": "user"}, {"red", "blue", "green"})
    assert (entry.user, entry.by, entry.status, entry.target) == ("ada", "sso", 200, "/sign-in")
    assert (entry.request_id, entry.address) == (REQUEST_ID, "192.0.2.7")


@pytest.mark.parametrize("name", ["", "a b", "-ada", "a" * 65, "a/b", "é"])
def test_invalid_user_name_is_refused(name: str) -> None:
    with refusal(Code.SIGN_IN_REFUSED) as found:
        admitted(User("x"), Identity("sso", "s", name))
    assert "is not a valid user name" in found.problem.detail


def test_the_longest_name_gets_in() -> None:
    assert admitted(User("a" * 64), Identity("sso", "s", "a" * 64))[0] == "a" * 64


@pytest.mark.parametrize("answer", [ConcurrentUpdate("taken"), Unstorable("nul"), User("ada", disabled=True)])
def test_a_name_that_is_taken_or_disabled_does_not_get_in(answer: Any) -> None:
    with refusal(Code.SIGN_IN_REFUSED) as found:
        admitted(answer)
    assert found.problem.hint == "ask an admin"
