"""Match nodes of the cluster with hosts of the object store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from zoe_lib.domain.cluster.cluster import STORAGE_HOST_LABEL, Node
from zoe_lib.domain.values.locality import InputObjects, Places


@lru_cache(maxsize=65_536)
def host_key(host: str) -> str:
    """Return a host's name or address in the form for comparisons."""
    bare = host.strip().strip("[]").lower()
    try:
        address = ip_address(bare)
    except ValueError:
        return bare.rstrip(".")
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def nodes_by_host(nodes: Iterable[Node]) -> Mapping[str, frozenset[str]]:
    """Return the names of the nodes on a host, by `host_key` of its name and each of its addresses.

    Nodes on one machine share its addresses. A label with the node's names in the store replaces its addresses.
    """
    found: dict[str, set[str]] = {}
    for node in nodes:
        label = node.labels.get(STORAGE_HOST_LABEL, "")
        for host in (node.name, *(label.split(",") if label else node.addresses)):
            found.setdefault(host_key(host), set()).add(node.name)
    return {host: frozenset(names) for host, names in found.items()}


def held_by_nodes(places: Places, hosts: Mapping[str, frozenset[str]]) -> Mapping[str, InputObjects]:
    """Return how much of the examined objects each node holds, by name; nodes without any are left out.

    The store treats a node as one host: copies of an object on several devices of a host were counted once under the
    host's name, and a node with two names counts by the one that holds more.
    """
    found: dict[str, InputObjects] = {}
    for host, held in places.hosts.items():
        for node in hosts.get(host_key(host), ()):
            found[node] = max(
                found.get(node, InputObjects()), held, key=lambda objects: (objects.bytes, objects.objects)
            )
    return found
