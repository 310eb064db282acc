"""Addresses of proxied ports: the master reports them, and they are cached while it is away."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from starlette.concurrency import run_in_threadpool

from zoe_api.apps.port_numbers import service_at
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.application import Port
from zoe_lib.domain.executions.execution import ExecutionId, Service, ServiceId
from zoe_lib.messaging.client import MasterClient, MasterRefused, MasterUnreachable
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotFound

_REMEMBERED_S = 5.0
# Without a master nothing moves; but a service that ends by itself is not reported, and its address may be reused.
_WITHOUT_MASTER_S = 3600.0
_REMEMBERED_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Target:
    """An address, and headers that every request to it must have and no browser may see."""

    host: str
    port: int
    path: str
    headers: dict[str, str] = field(repr=False)

    @property
    def authority(self) -> str:
        """Return host and port as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class _TargetReport:
    """The master's report, and its service; `ask_again_s` and `told_s` use the monotonic clock."""

    target: Target
    service_id: ServiceId
    told_s: float
    ask_again_s: float


class Targets:
    """Addresses of ports; MasterUnreachable if a new address cannot be resolved."""

    def __init__(self, store: ExecutionStore, master: MasterClient, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._store = store
        self._master = master
        self._told: dict[tuple[ExecutionId, int], _TargetReport] = {}

    async def find_target(self, execution_id: ExecutionId, number: int) -> Target | None:
        """Return the target; None if the service is not running."""
        key = (execution_id, number)
        before = self._told.get(key)
        if before is not None and self._clock.monotonic_s() < before.ask_again_s:
            return before.target
        answer = await run_in_threadpool(self._find, execution_id, number, before)
        self._told.pop(key, None)
        if answer is None:
            return None
        if len(self._told) >= _REMEMBERED_MAX:
            self._told.clear()
        self._told[key] = answer
        return answer.target

    def doubt(self, execution_id: ExecutionId, number: int) -> None:
        """Ask the master again next time; while it is away, its last report stays valid."""
        answer = self._told.get((execution_id, number))
        if answer is not None:
            self._told[execution_id, number] = replace(answer, ask_again_s=0.0)

    def _find(self, execution_id: ExecutionId, number: int, before: _TargetReport | None) -> _TargetReport | None:
        try:
            served = service_at(self._store.execution(execution_id), number)
        except NotFound:
            return None
        return None if served is None else self._ask(*served, before)

    def _ask(self, service: Service, port: Port, before: _TargetReport | None) -> _TargetReport | None:
        try:
            address = self._master.ask("address", {"service_id": service.id, "port": port.name})
        except MasterRefused:
            return None
        except MasterUnreachable:
            now_s = self._clock.monotonic_s()
            if before is None or before.service_id != service.id or now_s >= before.told_s + _WITHOUT_MASTER_S:
                raise
            return replace(before, ask_again_s=now_s + _REMEMBERED_S)
        now_s = self._clock.monotonic_s()
        target = Target(address["host"], address["port"], port.path, address.get("headers", {}))
        return _TargetReport(target, service.id, now_s, now_s + _REMEMBERED_S)
