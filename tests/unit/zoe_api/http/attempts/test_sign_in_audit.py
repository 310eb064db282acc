"""Audit entries for sign-ins, and those only counted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import REQUEST_ID, Accounts, request
from zoe_api.http.attempts import sign_in_audit as audit
from zoe_api.http.attempts.sign_in_audit import SignInAudit


def accounts(*users: str) -> Accounts:
    made = Accounts()
    for user in users:
        made.add_member(user)
    return made


def refused(made: SignInAudit, known: Accounts, user: str) -> Any:
    asked = request(path="/api/v1/session")
    made.note_refused(asked, known, user, "local")
    return asked.state


def test_a_sign_in_is_recorded_with_its_provider() -> None:
    asked = request(path="/api/v1/session")
    SignInAudit().note_right(asked, "ada", "ldap")
    entry = asked.state.audit
    assert (entry.user, entry.tenant, entry.action, entry.by) == ("ada", "", "sign_in", "ldap")
    assert (entry.target, entry.request_id, entry.address) == ("/api/v1/session", REQUEST_ID, "192.0.2.7")
    assert asked.state.user == "ada"
    assert not hasattr(asked.state, "audit_late")


def test_a_refused_one_is_recorded_after_its_answer_with_a_bounded_name() -> None:
    state = refused(SignInAudit(), accounts(), "a\nb" + "c" * 100)
    assert state.audit_late
    assert state.audit.user == state.user == "a?b" + "c" * 61


def test_a_path_of_a_stranger_can_be_stored() -> None:
    asked = request(path="/api/v1/session/oidc/callback/a\0" + "b" * 300)
    SignInAudit().note_refused(asked, accounts(), "", "oidc")
    assert asked.state.audit.target == "/api/v1/session/oidc/callback/a?" + "b" * 224


def test_users_have_places_that_invented_names_do_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "REFUSED_PER_MINUTE_MAX", 2)
    monkeypatch.setattr(audit, "USERS_PER_MINUTE_MAX", 1)
    made, known = SignInAudit(), accounts("ada", "bob")
    listed = [hasattr(refused(made, known, name), "audit") for name in ("x", "y", "z", "Ada", "ADA", "bob", "ada")]
    assert listed == [True, True, False, True, True, True, False]
    made._of_others._until_s = 0.0
    state = refused(made, known, "w")
    assert state.audit_changes == {"sign_ins_not_listed_before": [0, 1]}
    assert not hasattr(refused(made, known, "v"), "audit_changes")


def test_right_sign_ins_are_bounded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "RIGHT_PER_MINUTE_MAX", 1)
    made = SignInAudit()
    listed = []
    for _ in range(2):
        asked = request()
        made.note_right(asked, "ada", "local")
        listed.append(hasattr(asked.state, "audit"))
    assert listed == [True, False]


def test_names_are_read_at_most_once_a_minute_and_kept_while_the_database_is_away() -> None:
    made, known = SignInAudit(), accounts("ada")
    assert made._names_of(known) == {"ada"}
    known.add_member("Bob")
    assert made._names_of(known) == {"ada"}
    made._names_until_s = 0.0
    known.away = True
    assert made._names_of(known) == {"ada"}
    known.away = False
    assert made._names_of(known) == {"ada"}
    made._names_until_s = 0.0
    assert made._names_of(known) == {"ada", "bob"}
    assert (audit.REFUSED_PER_MINUTE_MAX, audit.RIGHT_PER_MINUTE_MAX, audit.USERS_PER_MINUTE_MAX) == (60, 600, 600)
