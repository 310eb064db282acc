"""The form of server-sent events."""

from __future__ import annotations

from zoe_api.services.sse import sse


def test_an_event_has_id_kind_and_data_on_one_line_each() -> None:
    assert sse(7, "log", {"a": "b\nc", "é": [1]}) == b'id: 7\nevent: log\ndata: {"a":"b\\nc","\\u00e9":[1]}\n\n'
