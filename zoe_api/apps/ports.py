"""Addresses of the ports of running services."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from zoe_api.access.access import Reader, Submitter, check, proved
from zoe_api.access.visibility import entered_execution, owns, visible_execution
from zoe_api.apps.access import entrance, host_of, ticket_for
from zoe_api.apps.port_numbers import number_of
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Services, ServicesDep
from zoe_client.wire import AddressView, OpenView
from zoe_lib.domain.applications.application import Port, PortProtocol
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.execution import Execution, Service
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal

router = api_router("/executions/{execution_id}/services/{service_id}/ports", tag="executions")
Direct = Annotated[bool, Query(description="Return the service's own address, also of a proxied port; operators only.")]
_DEFAULT_PORTS = {"http": 80, "https": 443}


@router.get("/{port}", response_model=AddressView)
def get_port_address(
    execution_id: str,
    service_id: str,
    port: str,
    request: Request,
    principal: Reader,
    services: ServicesDep,
    direct: Direct = False,
) -> AddressView:
    """Return the address of a port while the service runs: for a proxied port the address in Zoe's proxy, which `POST
    .../open` lets a browser into; for another port the address that the master's machine sees.

    With `direct`, operators get the latter for proxied ports, too. The headers that a request there needs are returned
    only to those who may open the application, and never for a session's cookie alone."""
    if direct:
        check(principal, Scope.OPERATE)
    execution = visible_execution(services, principal, execution_id, request)
    service = _running(execution, service_id)
    described = next((one for one in execution.component_of(service).ports if one.name == port), None)
    if described is None:
        raise NotFound(f"service {service_id} has no port {port}")
    try:
        body = {"service_id": service_id, "port": port}
        address = AddressView(**services.master.ask("address", body, request.state.request_id))
    except MasterRefused as refused:
        raise NotFound(str(refused)) from None
    if Scope.SUBMIT not in principal.scopes or not proved(request) or not _may_open(services, principal, execution):
        address.headers = {}
    if direct and described.protocol is PortProtocol.HTTP:
        address.url = f"http://{address.host}:{address.port}{described.path}"
    if described.proxied and not direct:
        return _in_the_proxy(request, services, execution, service, described)
    return address


def _in_the_proxy(
    request: Request, services: Services, execution: Execution, service: Service, port: Port
) -> AddressView:
    """Return the address for browsers. At the service's own address, browsers would send Zoe's cookies, which ignore
    ports.
    """
    number = number_of(execution, service, port.name).number
    host, scheme = host_of(services.settings.apps_domain, execution.id, number), request.url.scheme
    port_suffix = f":{request.url.port}" if request.url.port else ""
    return AddressView(
        host=host,
        port=request.url.port or _DEFAULT_PORTS[scheme],
        url=f"{scheme}://{host}{port_suffix}{port.path}",
    )


@router.post("/{port}/open", status_code=201, response_model=OpenView)
def open_port(
    execution_id: str, service_id: str, port: str, request: Request, principal: Submitter, services: ServicesDep
) -> OpenView:
    """Return a URL that lets a browser into a proxied port. It works once, within a minute: for the owner, and for
    those with whom the execution is shared for `open` or `control`; operators are no exception."""
    execution = entered_execution(services, principal, execution_id, request, ShareLevel.OPEN)
    number = number_of(execution, _running(execution, service_id), port).number
    ticket = ticket_for(services.accounts, principal, execution_id, number, clock=services.clock)
    domain = services.settings.apps_domain + (f":{request.url.port}" if request.url.port else "")
    return OpenView(url=entrance(request.url.scheme, domain, execution_id, number, ticket))


def _may_open(services: Services, principal: Principal, execution: Execution) -> bool:
    if owns(principal, execution):
        return True
    given = services.accounts.shared_level(execution.id, principal.tenant, principal.user)
    return given is not None and given.includes(ShareLevel.OPEN)


def _running(execution: Execution, service_id: str) -> Service:
    """Return the service; NotFound unless it is alive."""
    service = next((s for s in execution.services if s.id == service_id), None)
    if service is None or not service.alive:
        raise NotFound(f"execution {execution.id} has no running service {service_id}")
    return service
