"""Where the ports of running services answer."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request

from zoe_api.access import Reader, Submitter
from zoe_api.apps.access import entrance, ticket_for
from zoe_api.apps.numbers import number_of
from zoe_api.dependencies import MasterDep, ServicesDep, StoreDep, visible_execution
from zoe_lib.domain.application import PortProtocol
from zoe_lib.domain.execution import Execution, Service
from zoe_lib.domain.roles import Scope
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.base import NotFound
from zoe_lib.wire import AddressView, OpenView

router = APIRouter(prefix="/executions/{execution_id}/services/{service_id}/ports", tags=["executions"])


@router.get("/{port}", response_model=AddressView)
def get_port_address(
    execution_id: str, service_id: str, port: str, request: Request, who: Reader, store: StoreDep, master: MasterDep
) -> AddressView:
    """The address of a port by its name, as the master's machine sees it, while the service runs.

    What a request there must bear is told to members of the execution's tenant who may submit.
    """
    execution = visible_execution(store, who, execution_id)
    service = _running(execution, service_id)
    described = next((one for one in execution.component_of(service).ports if one.name == port), None)
    if described is None:
        raise NotFound(f"service {service_id} has no port {port}")
    try:
        body = {"service_id": service_id, "port": port}
        found = AddressView(**master.ask("address", body, request.state.request_id))
    except MasterRefused as refused:
        raise NotFound(str(refused)) from None
    if described.protocol is PortProtocol.HTTP:
        found.url = f"http://{found.host}:{found.port}{described.path}"
    if execution.tenant != who.tenant or Scope.SUBMIT not in who.scopes:
        found.headers = {}
    return found


@router.post("/{port}/open", status_code=201, response_model=OpenView)
def open_port(
    execution_id: str, service_id: str, port: str, request: Request, who: Submitter, its: ServicesDep
) -> OpenView:
    """A URL that lets a browser into a proxied port: it works once, within a minute, and for the own tenant only."""
    execution = visible_execution(its.store, replace(who, scopes=who.scopes - {Scope.OPERATE}), execution_id)
    number = number_of(execution, _running(execution, service_id), port).number
    ticket = ticket_for(its.store, who, execution_id, number)
    domain = its.settings.apps_domain + (f":{request.url.port}" if request.url.port else "")
    return OpenView(url=entrance(request.url.scheme, domain, execution_id, number, ticket))


def _running(execution: Execution, service_id: str) -> Service:
    """NotFound unless the service is alive."""
    service = next((s for s in execution.services if s.id == service_id), None)
    if service is None or not service.alive:
        raise NotFound(f"execution {execution.id} has no running service {service_id}")
    return service
