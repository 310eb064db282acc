"""Tickets and cookies of applications: the port that they open, and how long they are cached."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.plain_api import TENANT, USER, person, request, run
from zoe_api.apps import access
from zoe_api.apps.access import Accesses, entrance, host_of, ticket_for
from zoe_lib.store.people import AppAccess
from zoe_lib.submission.ids import hash_of

FIRST, SECOND = "a" * 43, "b" * 43


def app_access(secret: str, execution_id: str = "e1", number: int = 0) -> AppAccess:
    return AppAccess(hash_of(secret), USER, TENANT, "s", None, execution_id, number, 1.0, True)


class Stored:
    def __init__(self, *found: AppAccess) -> None:
        self.found = {access.id: access for access in found}
        self.looked_up: list[str] = []

    def add_app_access(self, one: AppAccess) -> None:
        self.found[one.id] = one

    def enter_app(self, ticket: str, cookie: str, now_s: float, until_s: float) -> AppAccess | None:
        self.until_s = until_s - now_s
        one = self.found.pop(ticket, None)
        return None if one is None else replace(one, id=cookie)

    def app_accesses_among(self, ids: list[str], execution_id: str, number: int) -> set[str]:
        return {
            i for i in ids if (one := self.found.get(i)) and (one.execution_id, one.number) == (execution_id, number)
        }

    def app_access(self, access_id: str, now_s: float) -> AppAccess | None:
        self.looked_up.append(access_id)
        return self.found.get(access_id)


@pytest.mark.parametrize(("by", "session", "token"), [("session_id", "x", None), ("token_id", None, "x")])
def test_a_ticket_ends_with_its_session_or_token(by: str, session: str | None, token: str | None) -> None:
    stored = Stored()
    ticket = ticket_for(stored, person(**{by: "x"}), "e1", 2)
    one = stored.found[hash_of(ticket)]
    assert (one.session_id, one.token_id, one.user, one.tenant) == (session, token, USER, TENANT)
    assert (one.execution_id, one.number, one.entered) == ("e1", 2, False)
    assert one.expires_at_s == pytest.approx(time.time() + 60, abs=30)


@pytest.mark.parametrize(("execution_id", "number", "admits"), [("e1", 2, True), ("e1", 1, False), ("e2", 2, False)])
def test_a_ticket_admits_to_its_port_and_works_once(execution_id: str, number: int, admits: bool) -> None:
    stored = Stored()
    ticket = ticket_for(stored, person(session_id="x"), "e1", 2)
    asked = request(query=f"ticket={ticket}")
    secret = run(Accesses(stored, 100.0).take_ticket(asked, execution_id, number))
    assert (secret is not None) is admits
    assert stored.until_s == 100
    assert run(Accesses(stored, 100.0).take_ticket(asked, "e1", 2)) is None
    assert run(Accesses(stored, 100.0).take_ticket(request(), "e1", 2)) is None


def test_a_browser_is_led_to_the_application_with_a_cookie() -> None:
    answer = Accesses(Stored(), 100.0).enter_application(request(), FIRST, "//evil")
    assert (answer.status_code, answer.headers["location"]) == (303, "/.//evil")
    assert f"zoe-app={FIRST}" in answer.headers["set-cookie"]
    assert "Max-Age=100" in answer.headers["set-cookie"]
    assert answer.headers["referrer-policy"] == "no-referrer"


def admitted(stored: Stored, *cookies: str, number: int = 0, accesses: Any = None) -> AppAccess | None:
    asked = request(headers={"cookie": "; ".join(f"zoe-app={cooky}" for cooky in cookies)})
    found: AppAccess | None = run((accesses or Accesses(stored, 1.0)).find_access(asked, "e1", number))
    return found


def test_of_several_cookies_that_of_the_port_admits() -> None:
    stored = Stored(app_access(FIRST, "e2"), app_access(SECOND))
    found = admitted(stored, FIRST, SECOND)
    assert found is not None
    assert found.id == hash_of(SECOND)
    assert stored.looked_up == [hash_of(SECOND)]
    assert admitted(stored, FIRST) is None
    assert admitted(stored, SECOND, number=1) is None
    assert admitted(stored, "c" * 43) is None
    assert admitted(stored) is None


def test_a_cookie_is_remembered_for_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()
    stored = Stored(app_access(FIRST))
    accesses = Accesses(stored, 1.0, clock)
    for after_s, lookups in ((0.0, 1), (1.9, 1), (0.2, 2)):
        clock.advance(after_s)
        assert admitted(stored, FIRST, accesses=accesses) is not None
        assert len(stored.looked_up) == lookups
    stored.found.clear()
    clock.advance(2.1)
    assert admitted(stored, FIRST, accesses=accesses) is None
    monkeypatch.setattr(access, "_REMEMBERED_MAX", 1)
    stored.found = {access.id: access for access in (app_access(FIRST), app_access(SECOND))}
    admitted(stored, FIRST, accesses=accesses)
    admitted(stored, SECOND, accesses=accesses)
    assert list(accesses._remembered) == [hash_of(SECOND)]


def test_each_port_has_a_host_of_its_own() -> None:
    assert host_of("apps.example", "e1", 0) == "e1.apps.example"
    assert entrance("https", "apps.example:81", "e1", 3, "t") == "https://e1-3.apps.example:81/.zoe/enter?ticket=t"
    signed_in_by_address = entrance("http", "apps.localhost", "e1", 0, "t", "127.0.0.1")
    assert signed_in_by_address == "http://e1.apps.localhost/.zoe/enter?ticket=t&by_address=1"
