"""The id of a request, its headers, and its entry in the audit log."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import run
from zoe_api.http import request_context
from zoe_api.http.problems.codes import Code
from zoe_api.http.request_context import RequestContext
from zoe_lib.store.people import AuditEntry

ENTRY = AuditEntry(1.0, "ada", "iostack", "submit_execution", "/x", "r")


class Audit:
    def __init__(self) -> None:
        self.ended: list[Any] = []
        self.added: list[AuditEntry] = []

    def end(self, entry_id: int, status: int, changes: Any) -> None:
        self.ended.append((entry_id, status, changes))

    def add(self, entry: AuditEntry) -> None:
        self.added.append(entry)


def answered(
    state: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    fail: str = "",
    status: int = 200,
    own: list[tuple[bytes, bytes]] | None = None,
) -> tuple[list[Any], Audit, Any]:
    audit, sent = Audit(), list[Any]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["state"].update(state or {})
        if fail == "before":
            raise ZeroDivisionError
        await send({"type": "http.response.start", "status": status, "headers": own or []})
        if fail == "after":
            raise ZeroDivisionError
        await send({"type": "http.response.body", "body": b"1", "more_body": True})
        sent.append(len(audit.added))
        await send({"type": "http.response.body", "body": b"2"})

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = [(k.encode(), v.encode()) for k, v in (headers or {}).items()]
    scope = {"type": "http", "method": "GET", "path": "/x", "headers": pairs, "client": ("192.0.2.1", 1)}
    run(RequestContext(app, audit)(scope, None, send))
    return sent, audit, scope


def headers_of(sent: list[Any]) -> dict[bytes, bytes]:
    return dict(sent[0]["headers"])


@pytest.mark.parametrize("text", ["a", "A-1", "0" * 64, "req-0123"])
def test_the_clients_own_id_is_kept(text: str) -> None:
    sent, _, scope = answered(headers={"x-request-id": text})
    assert headers_of(sent)[b"x-request-id"] == text.encode()
    assert scope["state"]["request_id"] == text


@pytest.mark.parametrize("text", ["", "-", "a b", "a_b", "0" * 65, "a\nb", "é"])
def test_an_id_that_is_no_id_gets_another(text: str) -> None:
    made = request_context._request_id(text)
    assert made.startswith("req-")
    assert len(made) == 20
    assert made != request_context._request_id(text)


def test_answers_are_not_kept_unless_they_say_so() -> None:
    told = headers_of(answered()[0])
    assert (told[b"cache-control"], told[b"x-content-type-options"]) == (b"no-store", b"nosniff")
    own = headers_of(answered(own=[(b"cache-control", b"max-age=9")])[0])
    assert own[b"cache-control"] == b"max-age=9"


def test_an_error_is_answered_unless_an_answer_has_begun() -> None:
    sent, _, _ = answered(fail="before")
    assert sent[0]["status"] == 500
    assert b"x-request-id" in headers_of(sent)
    with pytest.raises(ZeroDivisionError):
        answered(fail="after")


def test_an_entry_that_was_written_before_gets_its_status_and_changes() -> None:
    _, audit, _ = answered({"audit_id": 7, "audit_changes": {"a": [1, 2]}}, status=409)
    assert (audit.ended, audit.added) == ([(7, 409, {"a": [1, 2]})], [])
    assert answered({"audit_id": 0})[1].ended == [(0, 200, {})]


def test_an_entry_that_was_not_written_is_written_with_the_answer() -> None:
    sent, audit, _ = answered({"audit": ENTRY, "audit_changes": {"a": [1, 2]}}, status=403)
    (entry,) = audit.added
    assert (entry.status, entry.changes, entry.user) == (403, {"a": [1, 2]}, "ada")
    assert sent[2] == 1
    late, audit, _ = answered({"audit": ENTRY, "audit_late": True})
    assert (late[2], len(audit.added)) == (0, 1)


def test_a_refusal_that_was_noted_is_written_after_its_answer() -> None:
    sent, audit, _ = answered({"refused": Code.BAD_TOKEN}, status=401)
    (entry,) = audit.added
    assert (entry.action, entry.by, entry.status, sent[2]) == ("refused", "bad_token", 401, 0)
    assert answered()[1].added == []


@pytest.mark.parametrize(
    ("scope", "route"),
    [
        ({"state": {"route": "web"}}, "web"),
        ({"state": {}}, "unknown"),
        ({"state": {}, "route": type("R", (), {"path": "/a/{b}"})()}, "/a/{b}"),
    ],
)  # fmt: skip
def test_metrics_have_the_template_of_a_path(scope: dict[str, Any], route: str) -> None:
    assert request_context._route(scope) == route


def test_the_log_names_the_client_as_far_as_it_is_known() -> None:
    told = request_context._asker({"state": {"user": "ada", "tenant": ""}, "client": None})
    assert told == {"user": "ada"}
    assert request_context._address({"client": ("192.0.2.1", 1)}) == "192.0.2.1"
    assert request_context._address({"client": None}) == request_context._address({}) == ""
