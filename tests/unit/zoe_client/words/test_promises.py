"""Times that programs give for a promise."""

from __future__ import annotations

import time
from typing import Any

import pytest

from zoe_client import Client

APPLICATION: dict[str, Any] = {"version": 4, "name": "one", "components": []}


@pytest.mark.parametrize(
    ("given", "error"), [("", ValueError), ("soon", ValueError), (time.time() + 100, TypeError), (100, TypeError)]
)
def test_invalid_time_is_refused_before_sending(given: Any, error: type[Exception]) -> None:
    with Client("http://127.0.0.1:1", "token") as client:
        for call in (
            lambda: client.submit(APPLICATION, finish_by=given),
            lambda: client.plan(APPLICATION, finish_by=given),
            lambda: client.arrays.submit(APPLICATION, "0-1", finish_by=given),
            lambda: client.workflows.run({}, finish_by=given),
        ):
            with pytest.raises(error, match="time" if error is ValueError else "a string such as"):
                call()
