"""Labels of metrics are bounded."""

from __future__ import annotations

import pytest

from zoe_api.http.metrics import REQUESTS, known_method, observe_request


@pytest.mark.parametrize(
    ("method", "label"),
    [("GET", "GET"), ("PATCH", "PATCH"), ("OPTIONS", "OPTIONS"), ("get", "other"), ("BREW", "other")],
)
def test_a_method_that_a_client_invents_makes_no_time_series(method: str, label: str) -> None:
    assert known_method(method) == label


def test_a_request_is_counted_by_its_route_and_status() -> None:
    counter = REQUESTS.labels("GET", "/of this test", "204")
    observe_request("GET", "/of this test", 204, 0.5)
    assert counter._value.get() == 1
