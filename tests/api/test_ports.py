"""Where a service answers is told to its tenant, while it runs."""

from __future__ import annotations

import pytest

from tests.support.api import Api
from tests.support.documents import document, part
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_lib.domain.execution import ExecutionState
from zoe_lib.sdk import NotFound, Unreachable
from zoe_lib.wire import ExecutionView

PORTS = [
    {"name": "web", "number": 8000, "protocol": "http", "path": "/lab", "proxied": True},
    {"name": "rpc", "number": 7077},
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
    assert (web.host, web.port, web.url) == (service.node, 8000, f"http://{service.node}:8000/lab")
    rpc = client.port_address(execution.id, service.id, "rpc")
    assert (rpc.host, rpc.port, rpc.url) == (service.node, 7077, None)


def test_what_is_not_there_is_not_found(api: Api) -> None:
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
