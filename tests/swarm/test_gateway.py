"""Proxied ports are reached through the execution's gateway, with its secret, and in no other way."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import replace
from typing import Any

import pytest

from tests.support.images import provide
from tests.support.swarm_backend import SwarmHarness, shell
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import Cluster
from zoe_lib.domain.applications.application import Component, Port, PortProtocol
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, ObservedState, PeerService, PortAddress

WEB = Port("web", 8888, PortProtocol.HTTP, proxied=True)
SMALL = Resources(50, 32 * 2**20)
PLAIN = Port("plain", 9999, PortProtocol.HTTP)
# Tells on its output what came in, and answers; one that asks for another protocol gets its bytes back.
NOTEBOOK = """
cat > /tmp/answer <<'END'
upgrade=
while IFS= read -r line; do
    line=$(printf %s "$line" | tr -d '\\r')
    echo "$line" >> /tmp/heard
    case $line in [Uu]pgrade:*) upgrade=1 ;; '') break ;; esac
done
if [ $upgrade ]; then
    printf 'HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n'
    printf 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\\r\\n\\r\\n'
    exec cat
fi
printf 'HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 6\\r\\n\\r\\nhello\\n'
END
touch /tmp/heard
tail -f /tmp/heard &
nc -ll -p 9999 -e true &
exec nc -ll -p 8888 -e sh /tmp/answer
"""


def notebook(**changes: object) -> Component:
    script = NOTEBOOK.replace("{", "{{").replace("}", "}}")
    return shell(script, **{"ports": (WEB, PLAIN), "reservation": SMALL, "stop_grace_s": 0.5, **changes})


def begin(harness: SwarmHarness, execution: str = "e", node: str = "node-1", **changes: object) -> str:
    """A notebook with a gateway; its service."""
    service = f"{execution}.c.0.1"
    among = (PeerService(service, "c", 0, node, (WEB, PLAIN)),)
    harness.start(notebook(), service, node, **{"peers": among, "bears_gateway": True, **changes})
    return service


def gateway(harness: SwarmHarness, service: str = "e.c.0.1") -> PortAddress:
    harness.reach(service, ObservedState.READY)
    found: list[PortAddress] = []

    def there() -> bool:
        try:
            found.append(harness.backend.address(service, "web"))
            return ask(found[-1])[0] != 503
        except (BackendError, OSError):
            return False

    harness.until(there)
    return found[-1]


def ask(address: PortAddress, **changes: str | None) -> tuple[int, str]:
    """Status and body of a request with the headers of the address, changed."""
    headers = {**address.headers, **{name.replace("_", "-"): value for name, value in changes.items()}}
    connection = http.client.HTTPConnection(address.host, address.port, timeout=10)
    try:
        connection.request("GET", "/lab?x=1", headers={n: v for n, v in headers.items() if v is not None})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def gateways(harness: SwarmHarness) -> list[Any]:
    api: Any = harness.cluster.manager.api
    return list(api.services(filters={"label": "zoe.gateway"}))


def test_gateway_refuses_requests_without_the_secret(harness: SwarmHarness) -> None:
    first, second = begin(harness), begin(harness, "f", "node-2")
    address, other = gateway(harness, first), gateway(harness, second)
    assert ask(address) == (200, "hello\n")
    harness.until(lambda: "GET /lab?x=1 HTTP/1.1" in harness.output(first))
    heard = harness.output(first)
    assert "x-zoe" not in heard.lower()
    assert address.headers["X-Zoe-Secret"] not in heard
    for secret in (None, "", "x", other.headers["X-Zoe-Secret"]):
        status, said = ask(address, X_Zoe_Secret=secret)
        assert (status, "secret" in said) == (403, True)
    assert ask(address, X_Zoe_Secret=None, X_Zoe_Target=None)[0] == 403
    assert ask(other) == (200, "hello\n")
    harness.until(lambda: "GET" in harness.output(second))
    assert harness.output(first).count("GET") == heard.count("GET")


def test_it_leads_to_proxied_ports_of_its_execution_only(harness: SwarmHarness, swarm: Any) -> None:
    begin(harness)
    address = gateway(harness)
    for target in ("c-0:9999", "c-0:22", "c-1:8888", "127.0.0.1:8888", f"{swarm.manager.address}:2376", "", None):
        status, said = ask(address, X_Zoe_Target=target)
        assert (status, "no proxied port" in said) == (403, True), target


def test_a_port_that_is_not_proxied_is_not_led_to(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, publish_ports=False)
    begin(harness)
    gateway(harness)
    with pytest.raises(BackendError, match="not published"):
        harness.backend.address("e.c.0.1", "plain")


def test_a_websocket_passes(harness: SwarmHarness) -> None:
    begin(harness)
    address = gateway(harness)
    lines = ["GET /kernel HTTP/1.1", "Host: x", "Connection: Upgrade", "Upgrade: websocket"]
    lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    lines += [f"{name}: {value}" for name, value in address.headers.items()]
    with socket.create_connection((address.host, address.port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        with connection.makefile("rb") as stream:
            assert stream.readline().startswith(b"HTTP/1.1 101")
            while stream.readline().strip():
                continue
            connection.sendall(b"\x81\x05hello")
            assert stream.read(7) == b"\x81\x05hello"


def test_its_secret_is_in_no_label_and_no_variable_and_it_has_no_privileges(harness: SwarmHarness) -> None:
    begin(harness)
    address = gateway(harness)
    api: Any = harness.cluster.manager.api
    [service] = gateways(harness)
    [container] = api.containers(filters={"label": "zoe.gateway"})
    inspected = api.inspect_container(container["Id"])
    told = json.dumps([service, inspected, api.tasks(), api.secrets(), api.top(container["Id"])])
    assert address.headers["X-Zoe-Secret"] not in told
    assert inspected["Config"]["User"] == "65534:65534"
    assert inspected["HostConfig"]["ReadonlyRootfs"]
    assert inspected["HostConfig"]["CapDrop"] == ["ALL"]
    assert inspected["HostConfig"]["Memory"] == harness.settings.gateway_reservation.memory_bytes
    shown = api.exec_start(api.exec_create(container["Id"], ["sh", "-c", "ls -l /run/secrets /run/zoe-gateway"]))
    assert [line.split()[0][4:] for line in shown.decode().splitlines() if line.startswith("-")] == ["------"] * 2


def test_it_is_counted_and_is_no_foreign_work(harness: SwarmHarness) -> None:
    before = {node.name: node for node in harness.backend.nodes()}
    assert all(node.gateway == harness.settings.gateway_reservation for node in before.values())
    begin(harness)
    gateway(harness)
    after = {node.name: node for node in harness.backend.nodes()}
    assert after["node-1"] == replace(before["node-1"], containers=before["node-1"].containers + 2)
    assert harness.backend.observe()[0].service_id == "e.c.0.1"
    assert len(harness.backend.observe()) == 1


def test_one_that_is_killed_or_removed_comes_back(harness: SwarmHarness) -> None:
    begin(harness)
    api: Any = harness.cluster.manager.api
    gateway(harness)
    [container] = api.containers(filters={"label": "zoe.gateway"})
    api.kill(container["Id"])
    harness.until(lambda: api.inspect_container(container["Id"])["State"]["Status"] == "exited")
    harness.until(lambda: ask(gateway(harness)) == (200, "hello\n"))
    [service] = gateways(harness)
    api.remove_service(service["ID"])
    harness.until(lambda: [s["ID"] for s in gateways(harness)] not in ([], [service["ID"]]))
    assert ask(gateway(harness)) == (200, "hello\n")
    assert harness.seen("e.c.0.1").state is ObservedState.READY  # type: ignore[union-attr]


def test_a_new_backend_finds_it_again_and_one_with_another_key_makes_it_anew(harness: SwarmHarness) -> None:
    begin(harness)
    before, made = gateway(harness), gateways(harness)
    harness.reopen()
    assert gateway(harness) == before
    assert [s["ID"] for s in gateways(harness)] == [s["ID"] for s in made]
    harness.reopen()
    (harness.settings.state_dir / "gateway.key").unlink()
    after = gateway(harness)
    assert after.headers["X-Zoe-Secret"] != before.headers["X-Zoe-Secret"]
    assert ask(after) == (200, "hello\n")
    assert [s["ID"] for s in gateways(harness)] != [s["ID"] for s in made]


def test_it_goes_with_its_execution_and_an_orphan_is_swept(harness: SwarmHarness) -> None:
    service = begin(harness)
    gateway(harness)
    harness.backend.stop([service])
    harness.reach(service, ObservedState.ENDED)
    harness.until(lambda: not gateways(harness))
    api: Any = harness.cluster.manager.api
    tags = {"zoe.installation": "zoe", "zoe.execution": "gone", "zoe.generation": "3"}
    tags |= {"zoe.gateway": "x", "zoe.node": "node-1"}
    left = {"Image": "shell", "Args": ["sleep", "1000"], "StopGracePeriod": 10**8}
    api.create_service({"ContainerSpec": left}, name="left", labels=tags)
    harness.until(lambda: not gateways(harness))


def test_it_delays_nothing_and_says_why_it_is_not_there(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, gateway_image="absent/gateway")
    service = begin(harness)
    harness.reach(service, ObservedState.READY)

    def told() -> str:
        with pytest.raises(BackendError, match="is not running yet") as caught:
            harness.backend.address(service, "web")
        return str(caught.value)

    harness.until(lambda: "No such image: absent/gateway" in told())


def test_without_proxied_ports_there_is_none(harness: SwarmHarness) -> None:
    begin(harness, bears_gateway=False)
    harness.reach("e.c.0.1", ObservedState.READY)
    assert gateways(harness) == []


@needs_time
def test_the_image_of_the_catalogue_does_the_same(harness: SwarmHarness, swarm: Cluster) -> None:
    provide(swarm, "zoe/gateway")
    harness.reopen()
    harness.settings = replace(harness.settings, gateway_image="zoe/gateway")
    begin(harness)
    address = gateway(harness)
    assert ask(address) == (200, "hello\n")
    assert ask(address, X_Zoe_Secret="x")[0] == 403
