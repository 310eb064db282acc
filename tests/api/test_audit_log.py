"""The audit log names every sign-in and the values of every change; the log names who asked, and from where."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.api import Api
from tests.support.browser import Browser
from zoe_api import request_context
from zoe_api.sign_in import audit
from zoe_api.sign_in.brake import FAILURES_OF_PAIR_MAX, network_of
from zoe_lib.store.people import AuditEntry

SIGN_IN = "/lite/sign-in"


def sign_ins(api: Api) -> list[AuditEntry]:
    return [entry for entry in reversed(api.store.audit(None, 10_000)) if entry.action == audit.ACTION]


def told(entry: AuditEntry) -> tuple[str, str, str, int | None]:
    return entry.user, entry.by, entry.address, entry.status


def test_sign_ins_right_wrong_and_braked_are_written_down(api: Api) -> None:
    browser = Browser(api)
    browser.try_to_sign_in()
    for _ in range(FAILURES_OF_PAIR_MAX):
        browser.try_to_sign_in(password="a wrong one")
    for _ in range(2):  # by the store's count, then by what the process remembers
        browser.try_to_sign_in()
    here = ("ben", "local", "127.0.0.1")
    expected = [(*here, 200), *[(*here, 401)] * FAILURES_OF_PAIR_MAX, (*here, 429), (*here, 429)]
    assert [told(entry) for entry in sign_ins(api)] == expected


def test_sign_ins_by_the_pages_without_scripts_are_written_down(api: Api) -> None:
    Browser(api)
    http = api.http(None)
    for password in ("a wrong one", "correct horse battery"):
        http.post(SIGN_IN, data={"user": "ben", "password": password})
    assert [(e.user, e.status, e.target) for e in sign_ins(api)] == [("ben", 401, SIGN_IN), ("ben", 200, SIGN_IN)]


@pytest.mark.parametrize("user", ["a\0b", "\ud800", "x" * 10_000, "\x1b[2J", ""])
def test_any_user_name_is_answered_and_kept_plain(api: Api, user: str) -> None:
    typed = {"user": user.encode("utf-8", "surrogatepass"), "password": b"some password"}
    assert api.http(None).post(SIGN_IN, data=typed).status_code < 500
    assert all(entry.user.isprintable() and len(entry.user) <= 64 for entry in sign_ins(api))


def test_a_flood_writes_so_many_entries_a_minute_and_says_how_many_not(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "REFUSED_PER_MINUTE_MAX", 3)
    browser, now_s = Browser(api), [1e6]
    monkeypatch.setattr("zoe_api.sign_in.audit.time.monotonic", lambda: now_s[0])
    for _ in range(8):
        browser.try_to_sign_in(password="a wrong one")
    assert len(sign_ins(api)) == 3
    now_s[0] += 61
    browser.try_to_sign_in(password="a wrong one")
    *_, last = sign_ins(api)
    assert (len(sign_ins(api)), last.changes) == (4, {"sign_ins_not_listed_before": [0, 5]})


def test_changes_are_written_down_with_old_and_new_values(api: Api) -> None:
    Browser(api)
    http = api.http(api.admin)
    policy = http.get("/api/v1/policy").json()
    http.put("/api/v1/policy", json={**policy, "backfill": "easy"})
    http.put("/api/v1/admin/tenants/red/quota", json={"executions_max": 7})
    http.put("/api/v1/admin/tenants/red/members/ben", json={"role": "operator"})
    http.patch("/api/v1/admin/users/ben", json={"password": "quite another one", "disabled": True})
    http.delete("/api/v1/admin/tenants/red/members/ben")
    changes = [dict(entry.changes) for entry in reversed(api.store.audit(None, 99))]
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
        self.found.append({"event": event, **values})


def test_the_line_of_every_answer_names_user_tenant_and_address(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, lines = Browser(api), Lines()
    monkeypatch.setattr(request_context, "log", lines)
    browser.try_to_sign_in(password="a wrong one")
    browser.use().get("/lite/")
    browser.http.get("/api/v1/me")
    api.http().get("/api/v1/me")
    api.http(None).get("/api/v1/me")
    names = [(line.get("user"), line.get("tenant"), line["address"]) for line in lines.found]
    here = network_of("127.0.0.1")
    assert names == [
        ("ben", None, here),
        ("ben", None, here),
        ("ben", "red", here),
        ("ben", "red", here),
        ("ada", "red", here),
        (None, None, here),
    ]
