"""The door to applications, once for each parser of HTTP and WebSockets that uvicorn has here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.proxied import HTTP, WEBSOCKETS, Proxied


@pytest.fixture(scope="module", params=HTTP)
def over_http(request: pytest.FixtureRequest) -> Iterator[Proxied]:
    made = Proxied(http=request.param)
    yield made
    made.close()


@pytest.fixture(scope="module", params=[(http, ws) for http in HTTP for ws in WEBSOCKETS], ids="-".join)
def over_websockets(request: pytest.FixtureRequest) -> Iterator[Proxied]:
    made = Proxied(http=request.param[0], ws=request.param[1])
    yield made
    made.close()
