"""What opens the controller's door: its token all, that of metrics only these."""

from __future__ import annotations

import asyncio
from unittest import mock

import httpx
import pytest

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import Promisable
from storage_controller.app import make_app
from storage_controller.extensions import Works
from storage_controller.kept_views import KeptViews
from storage_controller.ledger import Ledger


def status(metrics_token: str, path: str, headers: dict[str, str]) -> int:
    ledger = Ledger(mock.Mock())
    works = Works(Promisable(BandwidthSlo(1, 1)), dict, dict, KeptViews(ledger, mock.Mock(), mock.Mock()), mock.Mock())
    transport = httpx.ASGITransport(make_app(ledger, works, "all", metrics_token=metrics_token))

    async def asked() -> int:
        async with httpx.AsyncClient(transport=transport, base_url="http://storage") as http:
            return (await http.get(path, headers=headers)).status_code

    return asyncio.run(asked())


@pytest.mark.parametrize(
    ("path", "token", "expected"),
    [
        ("/metrics", "numbers", 200),
        ("/metrics", "all", 200),
        ("/metrics", "", 401),
        ("/metrics", "number", 401),
        ("/metrics/", "numbers", 401),
        ("/v1/proxies", "numbers", 401),
        ("/v1/proxies", "all", 200),
        ("/health", "", 200),
    ],
)
@pytest.mark.parametrize("header", ["X-Auth-Token", "Authorization"])
def test_a_token_opens_what_it_is_for(path: str, token: str, expected: int, header: str) -> None:
    value = token if header == "X-Auth-Token" else f"Bearer {token}"
    assert status("numbers", path, {header: value}) == expected


def test_without_a_token_of_metrics_nothing_stands_for_it() -> None:
    assert status("", "/metrics", {}) == 401
    assert status("", "/metrics", {"Authorization": "Bearer "}) == 401
