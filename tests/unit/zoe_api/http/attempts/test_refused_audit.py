"""Audit entries for requests of unknown clients."""

from __future__ import annotations

from typing import Any

from tests.support.plain_api import REQUEST_ID, request
from zoe_api.http.attempts.refused_audit import MORE_PER_MINUTE_MAX, NETWORKS_PER_MINUTE_MAX, RefusedAudit
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.refusals import note_refused


def refused(audit: RefusedAudit, client: str = "192.0.2.7", code: Code = Code.BAD_TOKEN, **more: Any) -> Any:
    asked = request(client=client, **more)
    note_refused(asked.scope, code)
    return audit.entry(asked.scope, 401)


def test_a_request_that_was_not_refused_has_no_entry() -> None:
    assert RefusedAudit().entry(request().scope, 200) is None


def test_an_entry_names_the_reason_and_the_address() -> None:
    entry = refused(RefusedAudit(), path="/a\nb" + "c" * 300)
    assert (entry.action, entry.by, entry.status, entry.address) == ("refused", "bad_token", 401, "192.0.2.7")
    assert (entry.user, entry.tenant, entry.request_id, entry.changes) == ("", "", REQUEST_ID, {})
    assert entry.target == "/a?b" + "c" * 196


def test_a_foreign_host_is_named() -> None:
    entry = refused(RefusedAudit(), code=Code.HOST_NOT_ALLOWED)
    assert entry.changes == {"host": [None, "zoe.example"]}


def test_each_network_has_a_place_for_each_reason_and_the_rest_is_counted() -> None:
    audit = RefusedAudit()
    first = [refused(audit, f"10.0.0.{n}") for n in range(NETWORKS_PER_MINUTE_MAX)]
    assert all(first)
    again = [refused(audit, "10.0.0.0") for _ in range(MORE_PER_MINUTE_MAX + 3)]
    assert [entry is not None for entry in again] == [True] * MORE_PER_MINUTE_MAX + [False] * 3
    assert (NETWORKS_PER_MINUTE_MAX, MORE_PER_MINUTE_MAX) == (60, 10)
    audit._places._until_s = 0.0
    later = refused(audit, "10.0.0.0")
    assert later.changes == {"refused_not_listed_before": [0, 3]}
    assert refused(audit, "10.0.0.1").changes == {}


def test_a_page_that_asks_who_is_signed_in_is_no_refusal() -> None:
    audit, session = RefusedAudit(), "/api/v1/session"
    assert refused(audit, code=Code.NO_TOKEN, path=session) is None
    assert refused(audit, code=Code.BAD_TOKEN, path=session) is not None
    assert refused(audit, code=Code.NO_TOKEN, path="/api/v1/executions") is not None
