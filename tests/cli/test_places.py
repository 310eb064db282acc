"""Where inputs lie, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tests.support.applications import execution
from zoe_api.access.wire_forms import stored_places
from zoe_cli.commands.words.places import places_words
from zoe_client.quick import plain
from zoe_lib.domain.executions.execution import Execution, Service, ServiceState
from zoe_lib.domain.values.locality import NODES_TOLD_MAX, InputObjects, InputPlaces, Places, places_of
from zoe_lib.domain.values.storage import StorageObject, object_of

MIB = 2**20
PLACES = Places(
    InputObjects(4, 4 * MIB), InputObjects(4, 4 * MIB), {"n1": InputObjects(1, MIB), "n2": InputObjects(3, 3 * MIB)}
)


def words(places: Places | None, *nodes: str) -> str:
    """Return the text for an input when services are placed on these nodes."""
    one: Execution = execution(places=(InputPlaces("meters", places),))
    services = tuple(
        Service(f"s{n}", "c", n, True, state=ServiceState.READY, node=node) for n, node in enumerate(nodes)
    )
    [told] = stored_places(replace(one, services=services))
    return places_words(cast(plain.InputPlaces, told.model_dump()))


def test_of_nodes_with_services_only_these_are_told() -> None:
    assert words(PLACES, "n2") == "3 of 4 objects (3 MiB of 4 MiB) lie on node n2 with 1 of its services"
    assert words(PLACES, "n1", "n9", "n9") == (
        "1 of 4 objects (1 MiB of 4 MiB) lies on node n1 with 1 of its services, "
        "0 of 4 objects (0 B of 4 MiB) lie on node n9 with 2 of its services"
    )


def test_of_one_that_waits_those_that_hold_most() -> None:
    assert words(PLACES) == (
        "3 of 4 objects (3 MiB of 4 MiB) lie on node n2, 1 of 4 objects (1 MiB of 4 MiB) lies on node n1"
    )
    many = replace(PLACES, hosts={f"n{n}": InputObjects(1, n) for n in range(1, 5)})
    assert words(many).count("on node") == 3
    assert "on node n1" not in words(many)


def test_a_sample_is_called_one_and_what_is_not_known_is_said() -> None:
    assert words(replace(PLACES, listed=InputObjects(500, 500 * MIB)), "n2").endswith("(a sample of 500 objects)")
    assert words(replace(PLACES, complete=False)).endswith("(a sample of more than 4 objects)")
    assert words(None) == "Zoe does not know which nodes hold its objects"
    assert words(Places()) == "it has no objects"
    assert words(replace(PLACES, hosts={})) == "no node holds any of its 4 objects"


def test_of_very_many_nodes_those_are_kept_that_hold_most() -> None:
    uri = "swift2d://meters.zoe/2015"
    hosts = {f"n{n}": InputObjects(1, n) for n in range(3 * NODES_TOLD_MAX)}
    [kept] = places_of([StorageObject("meters", uri)], "acme", {object_of("acme", uri): replace(PLACES, hosts=hosts)})
    assert kept.places is not None
    assert sorted(held.bytes for held in kept.places.hosts.values()) == list(
        range(2 * NODES_TOLD_MAX, 3 * NODES_TOLD_MAX)
    )
    assert places_of([StorageObject("meters", uri)], "beta", {object_of("acme", uri): PLACES}) == ()


def test_one_object_is_no_objects() -> None:
    one = Places(InputObjects(1, MIB), InputObjects(1, MIB), {"n1": InputObjects(1, MIB)})
    assert words(one, "n1") == "1 of 1 object (1 MiB of 1 MiB) lies on node n1 with 1 of its services"
    assert words(Places(InputObjects(1, MIB), InputObjects(1, MIB), {})) == "no node holds any of its 1 object"
