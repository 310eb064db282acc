"""The real API over a real database: in this process for single requests, over loopback for streams."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable
from typing import Any

import httpx
from starlette.types import ASGIApp

from tests.support.master import TickingMaster
from tests.support.people import admin_token, make_token
from tests.support.postgres import make_home
from tests.support.secrets_in_logs import NotingSecrets
from tests.support.serving import Served
from zoe_api.http.serving.connections import Bounds, Connections
from zoe_api.http.serving.guarded import guarded_protocol
from zoe_api.main import create_app
from zoe_api.services.leader_endpoint import LeaderEndpoint
from zoe_client import Client
from zoe_client.http.tls import verification
from zoe_lib.http.strict_http import StrictHttp
from zoe_lib.messaging.client import MasterClient
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.store import PostgresStore

MASTER_TIMEOUT_S = 0.3
"""While no master runs: there is no answer, and tests wait for the timeout."""
PATIENCE_S = 10.0
"""While one runs, which is late on a busy machine."""


class Api:
    """One API process in this process, with uvicorn on loopback, its own store, and a master on request.

    address: listening address instead of loopback, and the port.
    """

    def __init__(
        self,
        database_url: str,
        address: tuple[str, int] = ("127.0.0.1", 0),
        finds_leader: bool = False,
        **settings: Any,
    ) -> None:
        self.directory = make_home()
        ensure_keys(self.directory / "keys")
        values: dict[str, Any] = {
            "database_url": database_url,
            "keys_dir": self.directory / "keys",
            "master_endpoint": f"ipc://{self.directory}/master",
            "master_timeout_s": MASTER_TIMEOUT_S,
            "master_attempts_max": 2,
            "api_sse_poll_s": 5.0,
            "trusted_proxies": ["127.0.0.1"],
        }
        self.settings = Settings(**{**values, **settings})
        self._database_url = database_url
        self.store = PostgresStore(database_url)
        # By default it has one master endpoint, so that tests can count the statements of a request.
        endpoint: str | LeaderEndpoint = self.settings.master_endpoint
        if finds_leader:
            endpoint = LeaderEndpoint(self.store.leader, endpoint)
        self.master_client = MasterClient(
            endpoint, self.settings.keys_dir, self.settings.master_timeout_s, self.settings.master_attempts_max
        )
        self.app = create_app(self.settings, self.store, self.master_client)
        connections = Connections(Bounds.from_settings(self.settings))
        self._served = Served(NotingSecrets(self.app), *address[::-1], http=guarded_protocol(StrictHttp, connections))
        self.url = self._served.url
        self.token = make_token(self.store, tenant="red")
        self.admin = admin_token(self.store)
        self._clients: list[Client | httpx.Client] = []
        self._masters: list[tuple[TickingMaster, PostgresStore]] = []

    def start_master(self, **options: Any) -> TickingMaster:
        """Start a master with its own store, like another process."""
        store = PostgresStore(self._database_url)
        master = TickingMaster(store, self.settings.master_endpoint, self.settings.keys_dir, **options)
        self._masters.append((master, store))
        self.master_client._timeout_s = max(PATIENCE_S, self.settings.master_timeout_s)
        return master

    def stop_master(self) -> None:
        master, store = self._masters.pop()
        self.master_client._timeout_s = self.settings.master_timeout_s
        master.stop()
        store.close()

    def client(self, token: str | None = None, transport: httpx.BaseTransport | None = None, **more: Any) -> Client:
        client = Client(self.url, token or self.token, transport=transport, **more)
        self._clients.append(client)
        return client

    def http(self, token: str | None = "", **more: Any) -> httpx.Client:
        """Return a bare HTTP client over loopback; None sends no token."""
        headers = {} if token is None else {"Authorization": f"Bearer {token or self.token}"}
        verify = verification(self.url)
        client = httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=30, verify=verify, **more)
        self._clients.append(client)
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()
        while self._masters:
            self.stop_master()
        self._served.close()
        self.master_client.close()
        self.store.close()
        shutil.rmtree(self.directory)


class InProcess(httpx.BaseTransport):
    """Carries requests to an application without a network; answers come whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._transport = httpx.ASGITransport(app)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="in-process")
        self._thread.start()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run_coroutine_threadsafe(self._handle(request), self._loop).result()

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        whole = httpx.Request(request.method, request.url, headers=request.headers, content=request.read())
        answer = await self._transport.handle_async_request(whole)
        return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def problem(response: httpx.Response) -> dict[str, Any]:
    """Return the problem in a response, checking its whole form."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    body: dict[str, Any] = response.json()
    assert body["status"] == response.status_code
    assert body["type"] == f"urn:zoe:problem:{body['code']}"
    assert body["title"]
    assert body["instance"] == response.request.url.path
    return body


def in_threads(number: int, work: Callable[[int], Any]) -> list[Any]:
    """Return the results of this many threads that begin at the same moment."""
    barrier, results = threading.Barrier(number), [None] * number

    def run(index: int) -> None:
        barrier.wait()
        results[index] = work(index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
