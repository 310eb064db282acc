"""Where the ports of running services answer."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request

from zoe_api.access import Reader, Submitter
from zoe_api.apps.access import entrance, ticket_for
from zoe_api.apps.numbers import number_of
from zoe_api.dependencies import MasterDep, ServicesDep, StoreDep, visible_execution
from zoe_lib.domain.application import Port, PortProtocol
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.roles import Scope
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.base import NotFound
from zoe_lib.wire import AddressView, OpenView

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


@router.post("/{port}/open", status_code=201, response_model=OpenView)
def open_port(
    execution_id: str, service_id: str, port: str, request: Request, who: Submitter, its: ServicesDep
) -> OpenView:
    """A URL that lets a browser into a proxied port: it works once, within a minute, and for the own tenant only."""
    execution = visible_execution(its.store, replace(who, scopes=who.scopes - {Scope.OPERATE}), execution_id)
    _described(execution, service_id, port)
    service = next(s for s in execution.services if s.id == service_id)
    number = number_of(execution, service, port).number
    ticket = ticket_for(its.store, who, execution_id, number)
    domain = its.settings.apps_domain + (f":{request.url.port}" if request.url.port else "")
    return OpenView(url=entrance(request.url.scheme, domain, execution_id, number, ticket))


def _described(execution: Execution, service_id: str, name: str) -> Port:
    """The port in the description; NotFound unless the service is alive and has one of that name."""
    service = next((s for s in execution.services if s.id == service_id), None)
    if service is None or not service.alive:
        raise NotFound(f"execution {execution.id} has no running service {service_id}")
    for port in execution.component_of(service).ports:
        if port.name == name:
            return port
    raise NotFound(f"service {service_id} has no port {name}")
