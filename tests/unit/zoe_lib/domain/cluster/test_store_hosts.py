from __future__ import annotations

import pytest

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.store_hosts import held_by_nodes, host_key, nodes_by_host
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.resources import Resources

SIZE = Resources(1000, 10**9)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10.0.0.5", "::ffff:10.0.0.5"),
        ("Storage4", "storage4"),
        ("storage4.example.", "storage4.example"),
        ("[2001:DB8::0:1]", "2001:db8::1"),
    ],
)
def test_two_ways_to_write_one_host(one: str, other: str) -> None:
    assert host_key(one) == host_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("10.0.0.5", "10.0.0.50"), ("storage4", "storage4.example"), ("storage4", "storage5")]
)
def test_hosts_that_are_not_the_same(one: str, other: str) -> None:
    assert host_key(one) != host_key(other)


def test_nodes_are_hosts_by_name_and_by_each_of_their_addresses() -> None:
    nodes = [
        Node("storage4", SIZE),
        Node("worker1", SIZE, addresses=("10.0.0.1", "192.168.0.1")),
        Node("half1", SIZE, addresses=("10.0.0.2",)),
        Node("half2", SIZE, addresses=("10.0.0.2",)),
        Node("elsewhere", SIZE, addresses=("10.0.0.9",)),
        Node("labelled", SIZE, addresses=("10.0.0.2",), labels={"storage_host": "storage7, 10.1.0.7"}),
    ]
    hosts = {
        "Storage4": InputObjects(1, 5),
        "192.168.0.1": InputObjects(2, 7),
        "10.0.0.2": InputObjects(3, 9),
        "10.0.0.7": InputObjects(4, 11),
    }
    hosts |= {"10.1.0.7": InputObjects(1, 6)}
    places = Places(InputObjects(4, 11), InputObjects(4, 11), hosts)
    assert held_by_nodes(places, nodes_by_host(nodes)) == {
        "storage4": InputObjects(1, 5),
        "worker1": InputObjects(2, 7),
        "half1": InputObjects(3, 9),
        "half2": InputObjects(3, 9),
        "labelled": InputObjects(1, 6),
    }


def test_a_host_with_two_names_in_the_store_counts_once() -> None:
    places = Places(
        InputObjects(3, 30), InputObjects(3, 30), {"10.0.0.1": InputObjects(2, 20), "worker1": InputObjects(1, 10)}
    )
    assert held_by_nodes(places, nodes_by_host([Node("worker1", SIZE, addresses=("10.0.0.1",))])) == {
        "worker1": InputObjects(2, 20)
    }
