"""What the tests take for a secret in bodies of requests and responses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.support.secrets_in_logs import SECRETS, NotingSecrets


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    SECRETS.forget()
    yield
    SECRETS.forget()


@pytest.mark.parametrize(
    ("field", "value", "secret"),
    [
        ("key", "f3c1a9d07b", True),
        ("key", "AbcdEfghIj", True),
        ("key", "executions", False),  # the name of a key, in the traffic of a store
        ("password", "correct horse", True),
    ],
)
def test_a_key_is_random_and_its_name_is_not(field: str, value: str, secret: bool) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()
        await Response(json.dumps({field: value}))(scope, receive, send)

    async def received() -> dict[str, object]:
        return {"type": "http.request", "body": b""}

    async def sent(_message: object) -> None:
        pass

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    asyncio.run(NotingSecrets(application)(scope, received, sent))
    assert bool(SECRETS.found_in(f"why {value}")) == secret
