"""Stored applications: owners, and fingerprints of dispatches."""

from __future__ import annotations

import pytest

from tests.support.plain_api import USER, operator, person, refusal
from zoe_api.executions import stored_applications
from zoe_api.http.problems.codes import Code
from zoe_client.wire import DispatchRequest
from zoe_lib.schedules.values import StoredApplication


def test_applications_of_the_tenant_are_for_operators() -> None:
    assert stored_applications._owner(person(), False) == USER
    assert stored_applications._owner(operator(), True) is None
    with refusal(Code.ROLE_MISSING):
        stored_applications._owner(person(), True)


def test_requests_that_differ_have_other_fingerprints() -> None:
    prints = {
        stored_applications._fingerprint(name, of_tenant, DispatchRequest(**body))
        for name, of_tenant, body in (
            ("a", False, {}),
            ("b", False, {}),
            ("a", True, {}),
            ("a", False, {"parameters": {"x": 1}}),
            ("a", False, {"priority": 1}),
            ("a", False, {"hold": True}),
        )
    }
    assert len(prints) == 6
    same = [stored_applications._fingerprint("a", False, DispatchRequest(**body)) for body in ({}, {"hold": False})]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("document", "workflow", "parameters"),
    [({"version": 4, "name": "x"}, False, {}), ({"steps": [], "params": {"p": {}}}, True, {"p": {}})],
)
def test_a_view_tells_what_it_is(document: dict[str, object], workflow: bool, parameters: dict[str, object]) -> None:
    told = stored_applications._facts(StoredApplication("iostack", None, "x", 3, document, 5.0, "olga"))
    assert (told["workflow"], told["parameters"], told["user"], told["version"]) == (workflow, parameters, None, 3)
    assert (told["name"], told["made_at_s"], told["made_by"]) == ("x", 5.0, "olga")
