"""Where a proxied port answers now: asked of the master, and remembered for a moment."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool

from zoe_api.apps.numbers import service_at
from zoe_lib.domain.execution import ExecutionId
from zoe_lib.messaging.client import MasterClient, MasterRefused
from zoe_lib.store.base import NotFound, Store

_REMEMBERED_S = 5.0
_REMEMBERED_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Target:
    """An address; every request must bear the headers, which no browser may see."""

    host: str
    port: int
    path: str
    headers: dict[str, str] = field(repr=False)

    @property
    def authority(self) -> str:
        """Host and port as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Targets:
    """Raises MasterUnreachable while nobody can tell a new address."""

    def __init__(self, store: Store, master: MasterClient) -> None:
        self._store = store
        self._master = master
        self._remembered: dict[tuple[ExecutionId, int], tuple[Target, float]] = {}

    async def of(self, execution_id: ExecutionId, number: int) -> Target | None:
        """None when it is not running."""
        key = (execution_id, number)
        target, until_s = self._remembered.get(key, (None, 0.0))
        if time.monotonic() < until_s:
            return target
        found = await run_in_threadpool(self._find, *key)
        self.forget(*key)
        if found is not None:
            if len(self._remembered) >= _REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[key] = found, time.monotonic() + _REMEMBERED_S
        return found

    def forget(self, execution_id: ExecutionId, number: int) -> None:
        """Ask again next time."""
        self._remembered.pop((execution_id, number), None)

    def _find(self, execution_id: ExecutionId, number: int) -> Target | None:
        try:
            found = service_at(self._store.execution(execution_id), number)
            if found is None:
                return None
            service, port = found
            told = self._master.ask("address", {"service_id": service.id, "port": port.name})
        except (NotFound, MasterRefused):
            return None
        return Target(told["host"], told["port"], port.path, told.get("headers", {}))
