"""Addresses of ports: in Zoe's proxy for browsers, and details only for users who can open the application."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import application, component, execution
from tests.support.plain_api import PEER, TENANT, Master, after, caller_of, operator, person, refusal, request, services
from tests.support.scheduling import started
from zoe_api.apps import ports
from zoe_api.http.problems.codes import Code
from zoe_lib.domain.applications.application import Port, PortProtocol
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal

WEB = Port("web", 8888, PortProtocol.HTTP, "/lab", proxied=True)
PAGE = Port("page", 8080, PortProtocol.HTTP, "/")
MAIN = component("main", 2, ports=(Port("rpc", 7077), WEB, PAGE))
ONE = started(
    after(execution(1, id="e1", application=application(MAIN)), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)),
    "n1",
    "n1",
)
FIRST, SECOND = (service.id for service in ONE.services)
ADDRESS = {"host": "10.0.0.1", "port": 31000, "headers": {"Authorization": "Bearer secret"}}


def there(given: ShareLevel | None = None, answer: Any = ADDRESS) -> Any:
    made = services(ONE, master=Master(address=answer), apps_domain="apps.example")
    if given is not None:
        made.accounts.shared[ONE.id, TENANT, PEER] = given
    return made


def address(
    port: str, principal: Principal | None = None, made: Any = None, proved: bool = True, service: str = FIRST
) -> Any:
    asked = request(state={"proved": proved}, scheme="https")
    return ports.get_port_address(ONE.id, service, port, caller_of(made or there(), principal or person(), asked))


def test_a_plain_port_has_the_address_that_the_master_tells() -> None:
    told = address("rpc")
    assert (told.host, told.port, told.headers, told.url) == ("10.0.0.1", 31000, ADDRESS["headers"], None)


@pytest.mark.parametrize(
    ("scheme", "host", "port", "url"),
    [
        ("https", "zoe.example", 443, "https://e1.apps.example/lab"),
        ("http", "zoe.example", 80, "http://e1.apps.example/lab"),
        ("http", "zoe.example:5100", 5100, "http://e1.apps.example:5100/lab"),
    ],
)
def test_a_proxied_port_has_an_address_in_the_proxy(scheme: str, host: str, port: int, url: str) -> None:
    asked = request(scheme=scheme, state={"proved": True})
    asked.scope["headers"] = [(b"host", host.encode())]
    told = ports.get_port_address(ONE.id, FIRST, "web", caller_of(there(), person(), asked))
    assert (told.host, told.port, told.url, told.headers) == ("e1.apps.example", port, url, {})
    other = ports.get_port_address(ONE.id, SECOND, "web", caller_of(there(), person(), asked))
    assert other.host == "e1-1.apps.example"


@pytest.mark.parametrize(
    ("principal", "proved", "given", "headers"),
    [
        (person(), True, None, True),
        (person(), False, None, False),
        (person(scopes=frozenset({"read"})), True, None, False),
        (person(PEER), True, ShareLevel.LOOK, False),
        (person(PEER), True, ShareLevel.OPEN, True),
        (person(PEER), True, ShareLevel.CONTROL, True),
        (operator(), True, None, False),
    ],
)
def test_headers_are_for_those_who_may_open_the_application(
    principal: Principal, proved: bool, given: ShareLevel | None, headers: bool
) -> None:
    assert bool(address("rpc", principal, there(given), proved).headers) is headers


def direct(port: str, principal: Principal) -> Any:
    asked = request(state={"proved": True})
    return ports.get_port_address(ONE.id, FIRST, port, caller_of(there(), principal, asked), True)


def test_the_own_address_of_a_proxied_port_is_for_operators() -> None:
    with refusal(Code.ROLE_MISSING):
        direct("web", person())
    assert direct("web", operator()).url == "http://10.0.0.1:31000/lab"
    assert direct("rpc", operator()).url is None


@pytest.mark.parametrize(("service", "port"), [(FIRST, "none"), ("none", "web")])
def test_unknown_port_has_no_address(service: str, port: str) -> None:
    with pytest.raises(NotFound):
        address(port, service=service)
    with pytest.raises(NotFound):
        address("rpc", made=there(answer=MasterRefused("not_found", "it does not run")))


def test_a_service_that_has_ended_has_no_address() -> None:
    ended = after(ONE, ev.ServiceEnded(at_s=3.0, service_id=FIRST, cause="exited"))
    with pytest.raises(NotFound, match="has no running service"):
        ports._running(ended, FIRST)
    assert ports._running(ended, SECOND).id == SECOND


def opened(principal: Principal, made: Any, port: str = "web", service: str = FIRST) -> str:
    found: list[Any] = []
    made.accounts.add_app_access = found.append
    asked = request(scheme="https")
    url: str = ports.open_port(ONE.id, service, port, caller_of(made, principal, asked)).url
    (access,) = found
    assert (access.execution_id, access.user) == (ONE.id, principal.user)
    return f"{access.number} {url.partition('ticket=')[0]}"


def test_a_browser_is_let_in_by_a_ticket() -> None:
    assert opened(person(), there()) == "0 https://e1.apps.example/.zoe/enter?"
    assert opened(person(), there(), service=SECOND) == "1 https://e1-1.apps.example/.zoe/enter?"
    assert opened(person(PEER), there(ShareLevel.OPEN)).startswith("0 ")
    for principal, given in ((person(PEER), ShareLevel.LOOK), (operator(), None)):
        with refusal(Code.SHARE_TOO_LOW):
            opened(principal, there(given))
    for port in ("rpc", "page", "none"):
        with pytest.raises(NotFound):
            opened(person(), there(), port)
