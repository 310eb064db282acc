"""Changes in the audit log."""

from __future__ import annotations

from tests.support.plain_api import request
from zoe_api.http.audit_changes import note_changes


def test_only_values_that_differ_are_noted_by_name() -> None:
    asked = request()
    note_changes(asked, {"b": 1, "same": 2, "gone": 3, "none": None}, {"b": 4, "same": 2, "a": 5})
    assert asked.state.audit_changes == {"a": [None, 5], "b": [1, 4], "gone": [3, None]}
    assert list(asked.state.audit_changes) == ["a", "b", "gone"]
