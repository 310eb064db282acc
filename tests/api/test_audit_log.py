"""The audit log names every sign-in and the values of every change; the log names the caller and its address."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import httpx
import pytest
import structlog

from tests.support.api import Api
from tests.support.browser import Browser
from tests.support.manual_clock import ManualClock
from tests.support.waiting import until
from zoe_api.http import request_context
from zoe_api.http.attempts import refused_audit
from zoe_api.http.attempts import sign_in_audit as audit
from zoe_api.http.attempts.guess_limit import FAILURES_OF_PAIR_MAX, network_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.people import AuditEntry, User

SIGN_IN = "/api/v1/session"


def sign_ins(api: Api) -> list[AuditEntry]:
    return [entry for entry in reversed(api.store.accounts.audit(None, 10_000)) if entry.action == audit.ACTION]


def written(api: Api, number: int) -> list[AuditEntry]:
    """Return the entries of so many sign-ins: refused ones are written after their answer."""
    until(lambda: len(sign_ins(api)) >= number)
    return sign_ins(api)


def refused(api: Api, number: int) -> list[AuditEntry]:
    """Return the entries of so many requests of unknown callers, oldest first."""

    def found() -> list[AuditEntry]:
        return [
            entry for entry in reversed(api.store.accounts.audit(None, 10_000)) if entry.action == refused_audit.ACTION
        ]

    until(lambda: len(found()) >= number)
    return found()


def told(entry: AuditEntry) -> tuple[str, str, str, int | None]:
    return entry.user, entry.by, entry.address, entry.status


def with_places(api: Api, shared: int, clock: Clock = SYSTEM_CLOCK) -> None:
    """So few places for refused ones."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(audit, "REFUSED_PER_MINUTE_MAX", shared)
        made = audit.SignInAudit(clock)
    object.__setattr__(api.app.state.services, "sign_in_audit", made)


def try_as(http: httpx.Client, user: str) -> httpx.Response:
    return http.post("/api/v1/session", json={"user": user, "password": "a wrong one"})


def test_sign_ins_right_wrong_and_braked_are_written_down(api: Api) -> None:
    browser = Browser(api)
    browser.try_to_sign_in()
    for _ in range(FAILURES_OF_PAIR_MAX):
        browser.try_to_sign_in(password="a wrong one")
    for _ in range(2):  # by the store's count, then by what the process remembers
        browser.try_to_sign_in()
    here = ("ben", "local", "127.0.0.1")
    expected = [(*here, 200), *[(*here, 401)] * FAILURES_OF_PAIR_MAX, (*here, 429), (*here, 429)]
    # Entries of refused ones follow their answers, so the next may come before.
    assert Counter(told(entry) for entry in written(api, len(expected))) == Counter(expected)


@pytest.mark.parametrize("user", ["a\0b", "\ud800", "x" * 10_000, "\x1b[2J", ""])
def test_any_user_name_is_answered_and_kept_plain(api: Api, user: str) -> None:
    typed = json.dumps({"user": user, "password": "some password"})
    assert api.http(None).post(SIGN_IN, content=typed, headers={"Content-Type": "application/json"}).status_code < 500
    assert all(entry.user.isprintable() and len(entry.user) <= 64 for entry in sign_ins(api))


def test_a_flood_writes_so_many_entries_a_minute_and_says_how_many_not(
    api: Api,
) -> None:
    http, clock = api.http(None), ManualClock(1e6)
    with_places(api, 3, clock)
    for _ in range(8):
        try_as(http, "nobody")
    assert len(written(api, 3)) == 3
    clock.advance(61)
    try_as(http, "nobody")
    *_, last = written(api, 4)
    assert (len(sign_ins(api)), last.changes) == (4, {"sign_ins_not_listed_before": [0, 5]})


def test_a_flood_of_made_up_names_hides_no_wrong_password_of_a_user(api: Api) -> None:
    with_places(api, 3)
    Browser(api)
    api.store.accounts.add_user(User("Eve"))
    http = api.http(None)
    for number in range(12):
        try_as(http, f"made-up-{number}")
    for user in ("ben", "made-up-x", "eve", "ben", "ben"):
        try_as(http, user)
    users = [entry.user for entry in written(api, 7)]
    # Entries follow their answers, so that the next one may come first.
    assert sorted(users) == sorted(["made-up-0", "made-up-1", "made-up-2", "ben", "eve", "ben", "ben"])
    for _ in range(3):  # each user's first is listed, whatever others come to; the rest share places
        try_as(http, "ben")
    try_as(http, "ada")
    assert sorted(entry.user for entry in written(api, 9)[7:]) == ["ada", "ben"]


def test_an_answer_does_not_wait_for_the_entry_of_a_refused_sign_in(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise its time would reveal which names belong to users."""
    Browser(api)
    kept, go_on = api.store.accounts.add_audit, threading.Event()

    def slow(entry: AuditEntry) -> int:
        assert go_on.wait(30)
        return kept(entry)

    monkeypatch.setattr(api.store.accounts, "add_audit", slow)
    http = api.http(None)
    assert [try_as(http, user).status_code for user in ("ben", "nobody")] == [401, 401]
    go_on.set()
    assert {entry.user for entry in written(api, 2)} == {"ben", "nobody"}


def test_requests_of_unknown_askers_are_written_down(api: Api) -> None:
    http = api.http(None)
    http.get("/api/v1/executions")
    http.post("/api/v1/executions", json={}, headers={"Authorization": "Bearer zoe_1_nothing"})
    refused(api, 2)  # entries follow their answers, and one of another connection may come before
    api.http().post("/api/v1/plan", content=b"{not json", headers={"Content-Type": "application/json"})
    refused(api, 3)
    http.get("/api/v1/me", headers={"Host": "evil.example.org\x7f"})
    http.get("/executions/%00", headers={"Host": "evil.example.org"})
    found = [(entry.by, entry.status, entry.target, entry.address) for entry in refused(api, 4)]
    here = "127.0.0.1"
    assert [item for item in found if item[0] != "http_error"] == [
        ("no_token", 401, "/api/v1/executions", here),
        ("bad_token", 401, "/api/v1/executions", here),
        ("invalid_json", 400, "/api/v1/plan", here),
        ("host_not_allowed", 421, "/executions/?", here),
    ]
    assert refused(api, 4)[-1].changes == {"host": [None, "evil.example.org"]}


def test_a_flood_of_one_network_leaves_places_to_others(api: Api) -> None:
    http = api.http(None)

    def ask(address: str) -> None:
        http.get("/api/v1/me", headers={"X-Forwarded-For": address})

    for _ in range(30):
        ask("192.0.2.1")
    ask("198.51.100.1")
    # Entries follow their answers, so that of the last request may come before one of those before it.
    addresses = Counter(entry.address for entry in refused(api, refused_audit.MORE_PER_MINUTE_MAX + 2))
    assert addresses == {"192.0.2.1": refused_audit.MORE_PER_MINUTE_MAX + 1, "198.51.100.1": 1}
    left_out = 29 - refused_audit.MORE_PER_MINUTE_MAX
    told = [entry.changes for entry in refused(api, 1) if "refused_not_listed_before" in entry.changes]
    assert told == [{"refused_not_listed_before": [0, left_out]}]
    for number in range(2 * refused_audit.NETWORKS_PER_MINUTE_MAX):
        ask(f"203.0.113.{number}")
    most = refused_audit.MORE_PER_MINUTE_MAX + refused_audit.NETWORKS_PER_MINUTE_MAX
    assert len(refused(api, most)) == most


def test_changes_are_written_down_with_old_and_new_values(api: Api) -> None:
    Browser(api)
    http = api.http(api.admin)
    policy = http.get("/api/v1/policy").json()
    http.put("/api/v1/policy", json={**policy, "backfill": "easy"})
    http.put("/api/v1/admin/tenants/red/quota", json={"executions_max": 7})
    http.put("/api/v1/admin/tenants/red/members/ben", json={"role": "operator"})
    http.patch("/api/v1/admin/users/ben", json={"password": "quite another one", "disabled": True})
    http.delete("/api/v1/admin/tenants/red/members/ben")
    changes = [dict(entry.changes) for entry in reversed(api.store.accounts.audit(None, 99))]
    changes[0].pop("version", None)
    assert changes == [
        {"backfill": [policy["backfill"], "easy"]},
        {"executions_max": [None, 7]},
        {"role": ["user", "operator"]},
        {"disabled": [False, True], "password": ["", "replaced"]},
        {"role": ["operator", None]},
    ]
    listed = http.get("/api/v1/admin/audit").json()["entries"]
    assert (listed[0]["address"], listed[0]["changes"]) == ("127.0.0.1", changes[-1])


class Lines:
    """What would be logged."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def info(self, event: str, **values: Any) -> None:
        self.found.append({"event": event, **structlog.contextvars.get_contextvars(), **values})


def test_the_line_of_every_answer_names_user_tenant_and_address(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, lines = Browser(api), Lines()
    monkeypatch.setattr(request_context, "log", lines)
    browser.try_to_sign_in(password="a wrong one")
    browser.use().get("/api/v1/me")
    api.http().get("/api/v1/me")
    api.http(None).get("/api/v1/me")
    names = [(line.get("user"), line.get("tenant"), line["address"]) for line in lines.found]
    here = network_of("127.0.0.1")
    assert names == [
        ("ben", None, here),
        ("ben", None, here),
        ("ben", "red", here),
        ("ada", "red", here),
        (None, None, here),
    ]
