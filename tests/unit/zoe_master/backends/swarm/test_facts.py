from __future__ import annotations

from typing import Any

import pytest

from zoe_master.backends.swarm.facts import node_facts


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
