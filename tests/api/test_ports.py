"""The address of a service is shown to its tenant, while it runs."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from tests.support.api import Api
from tests.support.browser import Browser
from tests.support.documents import document, part
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_client import NotAllowed, NotFound, Unreachable
from zoe_client.wire import ExecutionView
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.base import PortAddress

PORTS = [
    {"name": "web", "number": 8000, "protocol": "http", "path": "/lab", "proxied": True},
    {"name": "rpc", "number": 7077},
    {"name": "plain", "number": 8001, "protocol": "http"},
]


def running(api: Api) -> ExecutionView:
    client = api.client()
    execution = client.submit(document(part("main", ports=PORTS)))
    return until(lambda: (e := client.execution(execution.id)).state is ExecutionState.RUNNING and e)


def test_a_port_has_an_address_and_one_of_http_a_url(api: Api) -> None:
    api.start_master()
    execution = running(api)
    service, client = execution.services[0], api.client()
    web = client.port_address(execution.id, service.id, "web")
    host, port = f"{execution.id}.apps.localhost", urlsplit(api.url).port
    assert (web.host, web.port, web.url) == (host, port, f"http://{host}:{port}/lab")
    rpc = client.port_address(execution.id, service.id, "rpc")
    assert (rpc.host, rpc.port, rpc.url) == (service.node, 7077, None)
    plain = client.port_address(execution.id, service.id, "plain")
    assert (plain.host, plain.port, plain.url) == (service.node, 8001, None)


def test_the_service_s_own_address_is_for_operators_who_ask_for_it(api: Api) -> None:
    api.start_master()
    execution = running(api)
    service = execution.services[0]
    asked = (execution.id, service.id, "web")
    operator = api.client(make_token(api.store, "olga", role="operator", scopes=ALL_SCOPES))
    web = operator.port_address(*asked, direct=True)
    assert (web.host, web.port, web.url) == (service.node, 8000, f"http://{service.node}:8000/lab")
    assert operator.port_address(*asked) == api.client().port_address(*asked)
    with pytest.raises(NotAllowed):
        api.client().port_address(*asked, direct=True)


def test_a_cookie_alone_is_not_told_what_requests_must_bear(api: Api) -> None:
    master = api.start_master()
    execution = running(api)
    master.backend.address = lambda *_: PortAddress("127.0.0.1", 1, headers={"X-Zoe-Secret": "s3cret"})
    path = f"/api/v1/executions/{execution.id}/services/{execution.services[0].id}/ports/web?direct=true"
    browser = Browser(api, "olga", "operator")
    api.client().share(execution.id, ShareLevel.OPEN, "olga")
    proved = browser.use()
    stolen = api.http(None, cookies=dict(proved.cookies))
    assert proved.get(path).json()["headers"] == {"X-Zoe-Secret": "s3cret"}
    assert stolen.get(path).json()["headers"] == {}


def test_no_view_tells_an_address_of_a_port_that_is_for_browsers(api: Api) -> None:
    master = api.start_master()
    execution = running(api)
    raw = PortAddress("raw-address.example", 34567, headers={"X-Zoe-Secret": "s3cret"})
    master.backend.address = lambda *_: raw
    values = {"execution_id": execution.id, "service_id": execution.services[0].id, "port": "web"}
    asked = 0
    for path, methods in api.app.openapi()["paths"].items():
        if "get" in methods and "stream" not in path and path != "/api/v1/events":
            answer = api.http().get(re.sub(r"{(\w+)}", lambda name: values.get(name[1], "x"), path))
            asked += answer.status_code == 200
            assert raw.host not in answer.text, path
            assert not re.search(rf"(?<![\d.]){raw.port}(?!\d)", answer.text), path  # alone, not within a number
    assert asked > 10


def test_unknown_service_or_port_is_not_found(api: Api) -> None:
    api.start_master()
    execution = running(api)
    service, client = execution.services[0].id, api.client()
    for asked in ((execution.id, service, "ssh"), (execution.id, "x.main.0.1", "web"), ("x", service, "web")):
        with pytest.raises(NotFound):
            client.port_address(*asked)
    with pytest.raises(NotFound):
        api.client(make_token(api.store, "eve", "blue")).port_address(execution.id, service, "web")
    client.cancel(execution.id)
    client.wait(execution.id, 60)
    with pytest.raises(NotFound, match="no running service"):
        client.port_address(execution.id, service, "web")


def test_without_a_master_nobody_knows(api: Api) -> None:
    api.start_master()
    execution = running(api)
    api.stop_master()
    with pytest.raises(Unreachable):
        api.client().port_address(execution.id, execution.services[0].id, "web")
