"""Users, tenants and roles: restrictions on admins' own accounts, and audit entries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import ELSEWHERE, PEER, TENANT, USER, admin, caller_of, refusal, request, run, services
from zoe_api.http.problems.codes import Code
from zoe_api.people import administration
from zoe_client.wire import HandOver, NewTenant, RoleChoice, UserChange
from zoe_lib.domain.applications.roles import Role
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import AuditEntry, Membership

ROOT = admin()


def there(**settings: Any) -> Any:
    made = services(execution(1), execution(2, user=PEER), execution(3, tenant=ELSEWHERE), **settings)
    made.accounts.add_member(USER, password_hash="hash", provider="ldap")
    made.accounts.add_member(PEER, role="operator")
    made.accounts.add_member("root", role="admin")
    made.accounts.add_member(USER, ELSEWHERE, "viewer")
    made.accounts.people[PEER] = made.accounts.people[PEER].__class__(PEER, disabled=True)
    made.accounts.made_tenants = []
    made.accounts.add_tenant = made.accounts.made_tenants.append

    def ensure_member(user: str, tenant: str, role: Any) -> None:
        remove_member(user, tenant)
        made.accounts.members.append(Membership(user, tenant, Role(role)))

    def remove_member(user: str, tenant: str) -> None:
        kept = [member for member in made.accounts.members if (member.user, member.tenant) != (user, tenant)]
        made.accounts.members[:] = kept

    made.accounts.ensure_member, made.accounts.remove_member = ensure_member, remove_member
    return made


def test_users_are_listed_with_their_roles() -> None:
    told = {user.name: user for user in administration.list_users(ROOT, there().accounts).users}
    assert told[USER].roles == {TENANT: "user", ELSEWHERE: "viewer"}
    assert (told[PEER].disabled, told[PEER].password, told[PEER].roles) == (True, False, {TENANT: "operator"})
    assert not told[USER].disabled


def test_tenants_are_listed_with_members_quotas_and_active_executions() -> None:
    made = there()
    made.store.change_limits(lambda now: now.with_changed_amounts(LimitSubject(TENANT), {"executions": 5}), 1.0, "c")
    told = {tenant.name: tenant for tenant in administration.list_tenants(ROOT, made.store).tenants}
    assert (told[TENANT].executions, told[ELSEWHERE].executions) == (2, 1)
    assert (told[TENANT].executions_max, told[ELSEWHERE].executions_max) == (5, None)
    assert [(member.user, member.role) for member in told[ELSEWHERE].members] == [(USER, "viewer")]
    assert len(told[TENANT].members) == 3


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"backend": "local"}, False),
        ({"backend": "local", "insecure": True}, True),
        ({"backend": "swarm"}, True),
    ],
)
def test_the_local_back_end_has_one_tenant(settings: dict[str, Any], allowed: bool) -> None:
    made = there(**settings)
    if allowed:
        administration.add_tenant(NewTenant(name="blue"), caller_of(made, ROOT))
        assert made.accounts.made_tenants == ["blue"]
        return
    with refusal(Code.ONE_TENANT):
        administration.add_tenant(NewTenant(name="blue"), caller_of(made, ROOT))
    made.accounts.members.clear()
    administration.add_tenant(NewTenant(name="blue"), caller_of(made, ROOT))


def test_a_role_is_set_and_the_former_one_noted() -> None:
    made, asked = there(), request()
    told = administration.set_role(
        TENANT, USER, RoleChoice(role="operator"), caller_of(None, ROOT, asked), made.accounts
    )
    assert (told.user, told.role) == (USER, "operator")
    assert asked.state.audit_changes == {"role": ["user", "operator"]}
    assert administration._role(made.accounts, USER, TENANT) == "operator"
    for tenant, user in (("nothing", USER), (TENANT, "nobody")):
        with pytest.raises(NotFound):
            administration.set_role(
                tenant, user, RoleChoice(role="user"), caller_of(None, ROOT, request()), made.accounts
            )


def test_a_membership_ends() -> None:
    made, asked = there(), request()
    administration.remove_member(TENANT, USER, caller_of(None, ROOT, asked), made.accounts)
    assert asked.state.audit_changes == {"role": ["user", None]}
    assert administration._role(made.accounts, USER, TENANT) is None
    assert administration._role(made.accounts, USER, ELSEWHERE) == "viewer"


def test_admins_do_not_take_their_own_role_or_account() -> None:
    made = there()
    for work in (
        lambda: administration.set_role(
            TENANT, "root", RoleChoice(role="user"), caller_of(None, ROOT, request()), made.accounts
        ),
        lambda: administration.remove_member(TENANT, "root", caller_of(None, ROOT, request()), made.accounts),
        lambda: run(administration.change_user("root", UserChange(disabled=True), caller_of(made, ROOT, request()))),
        lambda: administration.hand_over_to(TENANT, "root", HandOver(to=USER), caller_of(made, ROOT, request())),
    ):
        with refusal(Code.OWN_ACCOUNT):
            work()
    assert administration._role(made.accounts, "root", TENANT) == "admin"
    administration.set_role(ELSEWHERE, "root", RoleChoice(role="user"), caller_of(None, ROOT, request()), made.accounts)


def changed(made: Any, user: str = USER, **body: Any) -> Any:
    asked = request()
    return administration._apply_change(user, UserChange(**body), caller_of(made, admin(), asked)), asked


def test_a_disabled_user_loses_all_access_and_an_enabled_one_none() -> None:
    made = there()
    view, asked = changed(made, disabled=True)
    assert (view.disabled, made.accounts.ended_access) == (True, [USER])
    assert asked.state.audit_changes == {"disabled": [False, True]}
    assert not changed(made, disabled=False)[0].disabled
    assert made.accounts.ended_access == [USER]
    assert (
        run(administration.change_user("root", UserChange(disabled=False), caller_of(made, ROOT, request()))).name
        == "root"
    )


def test_a_new_password_is_noted_but_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(administration, "check_strength", lambda *_: None)
    monkeypatch.setattr("zoe_api.people.sign_in.passwords.hash_password", lambda text: f"hash of {text}")
    made = there()
    view, asked = changed(made, password="correct horse")
    assert made.accounts.user(USER).password_hash == "hash of correct horse"
    assert view.password
    assert asked.state.audit_changes == {"password": ["", "replaced"]}
    assert made.accounts.ended_access == []
    changed(made, password="correct horse", end_tokens=True)
    assert made.accounts.ended_access == [USER]
    assert changed(made)[1].state.audit_changes == {}


@pytest.mark.parametrize(("entries", "limit", "asked", "before"), [(2, 3, 3, None), (3, 3, 3, 8), (4, 500, 4, 7)])
def test_the_audit_log_is_read_page_by_page(entries: int, limit: int, asked: int, before: int | None) -> None:
    made, given = there(api_page_max=4), list[Any]()

    def audit(*found: Any) -> list[AuditEntry]:
        given.append(found)
        return [AuditEntry(1.0, USER, TENANT, "a", "/x", "r", id=10 - n) for n in range(entries)]

    made.accounts.audit = audit
    told = administration.list_audit(caller_of(made, ROOT), USER, "sign_in", 11, limit)
    assert given == [(11, asked, USER, "sign_in")]
    assert (len(told.entries), told.next_before) == (entries, before)
