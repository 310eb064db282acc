"""Secrets of the proxy: one for each try, the same for every master with the key, for ports that want one."""

from __future__ import annotations

from dataclasses import replace

from zoe_lib.domain.applications.application import Application, Component, Port, PortProtocol, PortSignIn
from zoe_lib.domain.executions.execution import Execution, new_services
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ServiceStorage
from zoe_master.loop.executor import start_of
from zoe_master.loop.port_secrets import PortSecrets

PORTS = (
    Port("lab", 8888, PortProtocol.HTTP, "/", True, PortSignIn(scheme="token")),
    Port("bare", 8889, PortProtocol.HTTP, "/", True, PortSignIn("X-Key", "")),
    Port("ui", 4040, PortProtocol.HTTP, "/", True),
)
APPLICATION = Application(
    "app", (Component("main", "zoe/tiny", Resources(1000, 1), ports=PORTS), Component("other", "x", Resources(1, 1)))
)
EXECUTION = Execution("e", "app", "red", "ada", APPLICATION, 0.0, services=new_services("e", APPLICATION, 1))


def test_every_try_and_every_execution_has_its_own_and_masters_agree() -> None:
    key = bytes(range(32))
    one = PortSecrets(key)
    told = {one.secret(e) for e in (EXECUTION, replace(EXECUTION, attempt=2), replace(EXECUTION, id="f"))}
    assert len(told) == 3
    assert PortSecrets(key).secret(EXECUTION) == one.secret(EXECUTION)
    assert PortSecrets().secret(EXECUTION) not in told


def test_headers_are_those_of_the_port() -> None:
    port_secrets = PortSecrets()
    secret = port_secrets.secret(EXECUTION)
    assert port_secrets.headers(EXECUTION, "e.main.0.1", "lab") == {"Authorization": f"token {secret}"}
    assert port_secrets.headers(EXECUTION, "e.main.0.1", "bare") == {"X-Key": secret}
    for service, port in (("e.main.0.1", "ui"), ("e.main.0.1", "none"), ("e.main.0.2", "lab"), ("f.main.0.1", "lab")):
        assert port_secrets.headers(EXECUTION, service, port) == {}
    assert port_secrets.headers(None, "e.main.0.1", "lab") == {}


def test_only_components_with_such_a_port_are_given_the_secret_and_it_does_not_show() -> None:
    main, other = (replace(service, node="n1") for service in EXECUTION.services)
    told = start_of(EXECUTION, main, "", ServiceStorage(), "s3cret")
    assert told.secret == "s3cret"
    assert "s3cret" not in repr(told)
    assert start_of(EXECUTION, other, "", ServiceStorage(), "s3cret").secret == ""
