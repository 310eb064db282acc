from __future__ import annotations

import pytest

from tests.support.scheduling import component, node
from zoe_lib.domain.applications.application import Application, Port
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.checks.networks import check_addresses, check_devices
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources

GPU, PLAIN = component("g", devices={"gpu": 1}), component("p")
PORT = Port("http", 80, proxied=True)


@pytest.mark.parametrize(
    ("application", "noted"),
    [
        (Application("alone", (GPU,)), []),
        (Application("plain", (PLAIN, PLAIN)), []),
        (Application("two", (PLAIN, GPU)), [1]),
        (Application("port", (changed(GPU, ports=(PORT,)),)), [0]),
    ],
)
def test_devices_beside_a_network_are_noted(application: Application, noted: list[int]) -> None:
    found = list(check_devices(application, Target(Platform(capabilities=BackendCapabilities(devices_alone=True)))))
    assert [finding.place for finding in found] == [("components", index, "resources", "devices") for index in noted]
    assert all(finding.code == "devices_with_network" and not finding.certain for finding in found)
    assert list(check_devices(application, Target())) == []


@pytest.mark.parametrize(
    ("services", "addresses", "gateway", "certain"),
    [
        (4, 6, False, None),
        (4, 5, False, False),  # two nodes need one each, and the scheduler may take one node
        (4, 4, False, True),
        (4, 6, True, False),
        (4, None, True, None),
    ],
)
def test_services_nodes_and_gateway_need_addresses(
    services: int, addresses: int | None, gateway: bool, certain: bool | None
) -> None:
    reserved = Resources(100, 100) if gateway else Resources()
    nodes = tuple(changed(node(name, 64), gateway=reserved) for name in "ab")
    application = Application("a", (component(total_count=services, ports=(PORT,)),))
    platform = Platform(nodes, BackendCapabilities(network_addresses=addresses))
    found = list(check_addresses(application, Target(platform)))
    assert [(finding.code, finding.certain) for finding in found] == (
        [] if certain is None else [("network_too_small", certain)]
    )
    assert all(("with their gateway" in finding.message) is gateway for finding in found)
