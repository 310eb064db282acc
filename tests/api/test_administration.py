"""Users, tenants, roles, quotas, tokens of all users, and the audit log."""

from __future__ import annotations

import pytest

from tests.support.api import Api, problem
from tests.support.browser import Browser
from tests.support.documents import job
from tests.support.people import make_token
from zoe_client import Conflict, NotAllowed, NotFound, Refused
from zoe_lib.domain.applications.roles import Role


def test_a_user_comes_gets_a_role_signs_in_and_goes(api: Api) -> None:
    admin = api.client(api.admin).admin
    assert admin.add_user("nina", "a long password").roles == {}
    assert admin.set_role("nina", "red", Role.VIEWER).role is Role.VIEWER
    with pytest.raises(Conflict):
        admin.add_user("nina")
    nina = next(user for user in admin.users().users if user.name == "nina")
    assert (nina.roles, nina.password, nina.disabled) == ({"red": "viewer"}, True, False)
    browser = api.http(None)
    body = {"user": "nina", "password": "a long password"}
    assert browser.post("/api/v1/session", json=body).json()["role"] == "viewer"
    assert admin.change_user("nina", disabled=True).disabled
    assert problem(browser.get("/api/v1/me"))["code"] == "session_over"
    admin.change_user("nina", disabled=False)
    admin.remove_member("nina", "red")
    assert problem(browser.post("/api/v1/session", json=body))["code"] == "no_membership"


def test_unknown_user_tenant_or_token_is_not_found(api: Api) -> None:
    admin = api.client(api.admin).admin
    for call in (
        lambda: admin.change_user("nobody", disabled=True),
        lambda: admin.set_role("nobody", "red", Role.USER),
        lambda: admin.set_role("ada", "nothing", Role.USER),
        lambda: admin.remove_member("ada", "nothing"),
        lambda: admin.set_quota("nothing", 1),
        lambda: admin.revoke_token("nothing"),
    ):
        with pytest.raises(NotFound):
            call()
    assert [tenant.name for tenant in admin.tenants().tenants] == ["red"]


@pytest.mark.parametrize("name", ["", "../up", "Ada", "a b", "-x", "x" * 65])
def test_names_can_be_those_of_directories(api: Api, name: str) -> None:
    http = api.http(api.admin)
    assert http.post("/api/v1/admin/users", json={"name": name}).status_code == 422
    assert http.post("/api/v1/admin/tenants", json={"name": name}).status_code == 422


def test_an_admin_does_not_shut_herself_out(api: Api) -> None:
    admin = api.client(api.admin).admin
    for call in (
        lambda: admin.change_user("root", disabled=True),
        lambda: admin.set_role("root", "red", Role.USER),
        lambda: admin.remove_member("root", "red"),
    ):
        with pytest.raises(Conflict):
            call()


def test_a_second_tenant_needs_a_back_end_that_keeps_them_apart(api: Api) -> None:
    admin = api.client(api.admin).admin
    with pytest.raises(Conflict, match="one tenant"):
        admin.add_tenant("blue")
    api.settings.backend = "swarm"
    admin.add_tenant("blue")
    assert [tenant.name for tenant in admin.tenants().tenants] == ["blue", "red"]


def test_a_quota_refuses_and_shows_what_is_used(api: Api) -> None:
    admin, ada = api.client(api.admin).admin, api.client()
    admin.set_quota("red", 1)
    first = ada.submit(job())
    with pytest.raises(Refused, match="quota"):
        ada.submit(job())
    (red,) = admin.tenants().tenants
    assert (red.executions, red.executions_max, red.executions_of_user_max) == (1, 1, None)
    assert {member.user: member.role for member in red.members} == {"ada": "user", "root": "admin"}
    ada.cancel(first.id)
    ada.submit(job())


def test_a_quota_of_users_leaves_room_for_the_others_of_their_tenant(api: Api) -> None:
    admin, ada, bob = api.client(api.admin).admin, api.client(), api.client(make_token(api.store, "bob", "red"))
    admin.set_quota("red", None, 1)
    ada.submit(job())
    with pytest.raises(Refused, match="maximum for ada in red: 1"):
        ada.submit(job())
    bob.submit(job())
    assert [(meter.used, meter.limit) for meter in (ada.quota().executions, ada.quota().executions_of_user)] == [
        (2, None),
        (1, 1),
    ]
    assert [(t.executions_max, t.executions_of_user_max) for t in admin.tenants().tenants] == [(None, 1)]


def test_everybodys_tokens_are_listed_and_revoked(api: Api) -> None:
    text = make_token(api.store, "bob")
    admin = api.client(api.admin).admin
    assert {token.user for token in admin.tokens().tokens} == {"ada", "root", "bob"}
    admin.revoke_token(text.split("_")[1])
    with pytest.raises(NotAllowed):
        api.client(text).me()


def test_the_audit_log_has_every_change_and_every_refusal(api: Api) -> None:
    ada, admin = api.client(), api.client(api.admin).admin
    execution = ada.submit(job())
    ada.cancel(execution.id)
    ada.executions()
    assert api.http().post("/api/v1/executions", json={"application": {}}).status_code == 422
    with pytest.raises(NotAllowed):
        ada.admin.add_user("mallory")
    admin.add_user("nina", "a very secret one")
    ben = Browser(api).use()
    ben.post("/api/v1/tokens", json={})
    assert ben.post("/api/v1/tokens", json={}, headers={"X-CSRF-Token": "wrong"}).status_code == 403
    assert ben.delete("/api/v1/session").status_code == 204
    assert ben.delete("/api/v1/session").status_code == 204
    entries = admin.audit().entries
    seen = [(e.user, e.action, e.target, e.status) for e in reversed(entries)]
    assert seen == [
        ("ada", "submit_execution", "/api/v1/executions", 201),
        ("ada", "cancel_execution", f"/api/v1/executions/{execution.id}/cancel", 200),
        ("ada", "submit_execution", "/api/v1/executions", 422),
        ("ada", "add_user", "/api/v1/admin/users", 403),
        ("root", "add_user", "/api/v1/admin/users", 201),
        ("ben", "sign_in", "/api/v1/session", 200),
        ("ben", "add_token", "/api/v1/tokens", 201),
        ("ben", "add_token", "/api/v1/tokens", 403),
        ("ben", "sign_out", "/api/v1/session", 204),
    ]
    assert entries[0].by == "session"
    assert entries[-1].by == api.token.split("_")[1]
    assert entries[-1].request_id == ada.events(execution.id).events[0].cause_id
    assert [e.user for e in admin.audit(user="ben").entries] == ["ben"] * 4
    page = admin.audit(limit=2)
    assert page.next_before is not None
    assert [e.id for e in admin.audit(before=page.next_before, limit=9).entries] == [e.id for e in entries[2:]]
