"""The API refuses requests that two servers may split differently."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.support.api import Api
from tests.support.framing import CASES, answer, is_refused, request


def test_a_request_with_two_readings_is_refused_and_the_next_one_unread(api: Api) -> None:
    at = urlsplit(api.url)
    assert at.hostname is not None
    assert at.port is not None
    host = f"Authorization: Bearer {api.token}\r\nContent-Type: application/json\r\n".encode()
    for name in CASES:
        got = answer(at.hostname, at.port, request(name, "/api/v1/executions", host, "POST"))
        assert is_refused(got), (name, got)
