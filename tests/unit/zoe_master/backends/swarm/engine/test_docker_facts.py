from __future__ import annotations

from typing import Any

import pytest

from zoe_master.backends.swarm.engine.docker_facts import node_facts, wrong_shares


def entry(address: str, manager: str | None = None) -> dict[str, Any]:
    """Return a node as managers of Docker 20.10 report it."""
    described = {"Hostname": "n1", "Resources": {"NanoCPUs": 2 * 10**9, "MemoryBytes": 2**30}}
    told = {
        "ID": "x",
        "Description": described,
        "Spec": {"Availability": "active"},
        "Status": {"State": "ready", "Addr": address},
    }
    return told if manager is None else {**told, "ManagerStatus": {"Addr": manager}}


@pytest.mark.parametrize(
    ("address", "manager", "found"),
    [
        ("10.77.0.11", None, ("10.77.0.11",)),
        ("10.77.0.11", "10.77.0.11:2377", ("10.77.0.11",)),
        ("0.0.0.0", "10.77.0.10:2377", ("10.77.0.10",)),
        ("127.0.0.1", "[fd00::5]:2377", ("fd00::5",)),
        ("", None, ()),
    ],
)
def test_addresses_by_which_others_reach_a_node(address: str, manager: str | None, found: tuple[str, ...]) -> None:
    """A loopback address means another machine to each reader."""
    assert node_facts(entry(address, manager)).addresses == found


@pytest.mark.parametrize(
    ("tags", "shares"),
    [
        ({}, None),
        ({"zoe.cores-milli": "1000"}, 1024),
        ({"zoe.cores-milli": "0"}, 2),
        ({"zoe.cores-milli": "500", "zoe.promised": "true"}, 65_536),
        ({"zoe.cores-milli": "64000", "zoe.promised": "true"}, 262_144),
    ],
)
def test_reserved_cores_weigh_more_if_they_are_promised(tags: dict[str, str], shares: int | None) -> None:
    container = {"Config": {"Labels": tags}, "State": {"Running": True}, "HostConfig": {"CpuShares": 7}}
    assert wrong_shares(container) == shares
    assert wrong_shares({**container, "State": {"Running": False}}) is None
    assert wrong_shares({**container, "HostConfig": {"CpuShares": shares}}) is None
