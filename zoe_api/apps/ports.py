"""Addresses of the ports of running services."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from zoe_api.access.access import AsReader, AsSubmitter, check, has_proof
from zoe_api.access.visibility import entered_execution, is_owner, seen_execution
from zoe_api.apps.access import entrance, host_of, ticket_for
from zoe_api.apps.port_numbers import number_of
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller
from zoe_client.wire import AddressView, OpenView
from zoe_lib.domain.applications.application import Port, PortProtocol
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.execution import Execution, Service
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.errors import NotFound

router = api_router("/executions/{execution_id}/services/{service_id}/ports", tag="executions")
Direct = Annotated[bool, Query(description="Return the service's own address, also of a proxied port; operators only.")]
_DEFAULT_PORTS = {"http": 80, "https": 443}


@router.get("/{port}", response_model=AddressView)
def get_port_address(
    execution_id: str,
    service_id: str,
    port: str,
    caller: AsReader,
    direct: Direct = False,
) -> AddressView:
    """Return the address of a port while the service runs: for a proxied port the address in Zoe's proxy, which `POST
    .../open` opens in a browser; for another port the address seen from the master's machine.

    With `direct`, operators get the latter for proxied ports, too. Headers that requests to the port need are returned
    only to users who may open the application, and never for a session's cookie alone.
    """
    if direct:
        check(caller.principal, Scope.OPERATE)
    execution = seen_execution(caller, execution_id)
    service = _running(execution, service_id)
    described = next((entry for entry in execution.component_of(service).ports if entry.name == port), None)
    if described is None:
        raise NotFound(f"service {service_id} has no port {port}")
    try:
        body = {"service_id": service_id, "port": port}
        address = AddressView(**caller.services.master.ask("address", body, caller.request_id))
    except MasterRefused as refused:
        raise NotFound(str(refused)) from None
    if Scope.SUBMIT not in caller.principal.scopes or not has_proof(caller.request) or not _may_open(caller, execution):
        address.headers = {}
    if direct and described.protocol is PortProtocol.HTTP:
        address.url = f"http://{address.host}:{address.port}{described.path}"
    if described.proxied and not direct:
        return _in_the_proxy(caller, execution, service, described)
    return address


def _in_the_proxy(caller: Caller, execution: Execution, service: Service, port: Port) -> AddressView:
    """Return the address for browsers. At the service's own address, browsers would send Zoe's cookies, which ignore
    ports.
    """
    number = number_of(execution, service, port.name).number
    asked = caller.request.url
    host, scheme = host_of(caller.services.settings.apps_domain, execution.id, number), asked.scheme
    port_suffix = f":{asked.port}" if asked.port else ""
    return AddressView(
        host=host,
        port=asked.port or _DEFAULT_PORTS[scheme],
        url=f"{scheme}://{host}{port_suffix}{port.path}",
    )


@router.post("/{port}/open", status_code=201, response_model=OpenView)
def open_port(execution_id: str, service_id: str, port: str, caller: AsSubmitter) -> OpenView:
    """Return a URL that opens a proxied port in a browser. It works once, within a minute: for the owner, and for users
    with a share at level `open` or `control`; operators have no exception.
    """
    execution = entered_execution(caller, execution_id, ShareLevel.OPEN)
    number = number_of(execution, _running(execution, service_id), port).number
    ticket = ticket_for(caller.services.accounts, caller.principal, execution_id, number, clock=caller.services.clock)
    domain = caller.services.settings.apps_domain + (f":{caller.request.url.port}" if caller.request.url.port else "")
    asked = caller.request.url
    return OpenView(url=entrance(asked.scheme, domain, execution_id, number, ticket, asked.hostname or ""))


def _may_open(caller: Caller, execution: Execution) -> bool:
    if is_owner(caller.principal, execution):
        return True
    given = caller.services.accounts.shared_level(execution.id, caller.tenant, caller.user)
    return given is not None and given.includes(ShareLevel.OPEN)


def _running(execution: Execution, service_id: str) -> Service:
    """Return the service; NotFound unless it is alive."""
    service = next((s for s in execution.services if s.id == service_id), None)
    if service is None or not service.alive:
        raise NotFound(f"execution {execution.id} has no running service {service_id}")
    return service
