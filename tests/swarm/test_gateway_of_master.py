"""A description's proxied port, from the queue to an answer through the gateway, by a real master."""

from __future__ import annotations

import urllib.request
from typing import Any

from tests.support.swarm_installation import Installation
from zoe_client.wire import AddressView
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.messaging.server import Refusal
from zoe_master.rpc.handlers import RpcHandlers

WEB = {"name": "web", "number": 8000, "protocol": "http", "proxied": True}
GATEWAY_MIB = 64


def serving(memory_mib: int) -> dict[str, Any]:
    """A component without a port, and one whose second instance answers, too."""
    command = ["httpd", "-f", "-p", "{port:web}", "-h", "/etc"]
    size = {"memory": f"{memory_mib}MiB", "cores": 0.05}
    quiet = {"name": "quiet", "image": "zoe/tiny", "command": ["sleep", "1000"], "stop_grace_s": 1}
    web = {"name": "web", "image": "zoe/tiny", "command": command, "total_count": 2, "essential_count": 2}
    components = [{**quiet, "resources": size}, {**web, "resources": size, "ports": [WEB], "stop_grace_s": 1}]
    return {"version": 4, "name": "serving", "kind": "interactive", "components": components}


def address(installation: Installation, service_id: str) -> AddressView | None:
    """What the API tells, as the master answers it."""
    harness = installation.harness
    answers = RpcHandlers(installation.master, harness.backend, harness.waker, "test", 1)
    try:
        return AddressView(**answers.address({"service_id": service_id, "port": "web"}))
    except Refusal:
        return None


def get(at: AddressView, path: str) -> str:
    request = urllib.request.Request(f"http://{at.host}:{at.port}{path}", headers=at.headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())


def test_every_instance_is_reached_through_the_one_gateway(installation: Installation) -> None:
    running = installation.ready(serving(32), 60)
    services = [service for service in running.services if service.component == "web"]
    installation.harness.until(lambda: all(address(installation, service.id) for service in services))
    found = [at for service in services if (at := address(installation, service.id)) is not None]
    assert {(at.host, at.port) for at in found} == {(found[0].host, found[0].port)}
    assert [at.headers["X-Zoe-Target"] for at in found] == ["web-0:8000", "web-1:8000"]
    for at in found:
        installation.harness.until(lambda at=at: answers(at))
    ended = installation.end(running.id)
    assert ended.state is ExecutionState.CANCELLED
    assert address(installation, services[0].id) is None


def answers(at: AddressView) -> bool:
    try:
        return "nobody" in get(at, "/passwd")
    except OSError:
        return False


def test_an_execution_that_fits_only_without_its_gateway_waits_for_ever_and_is_told_so(
    installation: Installation,
) -> None:
    nodes = installation.harness.backend.nodes()
    each_mib = min(node.total.memory_bytes for node in nodes) // 2**20
    execution_id = installation.submit(serving(each_mib))
    installation.master.tick()
    reason = installation.store.execution(execution_id).reason
    assert reason is not None
    assert reason.code is ReasonCode.NEVER_FITS
    assert f"with their gateway (0.05 cores, {GATEWAY_MIB} MiB)" in reason.sentence
