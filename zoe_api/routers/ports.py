"""Where the ports of running services answer."""

from __future__ import annotations

from fastapi import APIRouter, Request

from zoe_api.access import Reader
from zoe_api.dependencies import (
    MasterDep,
    StoreDep,
    visible_execution,
)
from zoe_lib.domain.application import Port, PortProtocol
from zoe_lib.domain.execution import Execution
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.base import NotFound
from zoe_lib.wire import AddressView

router = APIRouter(prefix="/executions/{execution_id}/services/{service_id}/ports", tags=["executions"])


@router.get("/{port}", response_model=AddressView)
def get_port_address(
    execution_id: str, service_id: str, port: str, request: Request, who: Reader, store: StoreDep, master: MasterDep
) -> AddressView:
    """The address of a port by its name, as the master's machine sees it, while the service runs."""
    described = _described(visible_execution(store, who, execution_id), service_id, port)
    try:
        body = {"service_id": service_id, "port": port}
        found = AddressView(**master.ask("address", body, request.state.request_id))
    except MasterRefused as refused:
        raise NotFound(str(refused)) from None
    if described.protocol is PortProtocol.HTTP:
        found.url = f"http://{found.host}:{found.port}{described.path}"
    return found


def _described(execution: Execution, service_id: str, name: str) -> Port:
    """The port in the description; NotFound unless the service is alive and has one of that name."""
    service = next((s for s in execution.services if s.id == service_id), None)
    if service is None or not service.alive:
        raise NotFound(f"execution {execution.id} has no running service {service_id}")
    for port in execution.component_of(service).ports:
        if port.name == name:
            return port
    raise NotFound(f"service {service_id} has no port {name}")
