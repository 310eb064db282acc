"""Places of inputs' objects, as the object store reports them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.storage import Located, StorageObject, object_of


@value(frozen=True, slots=True)
class InputObjects:
    """A number of objects, and their total bytes."""

    objects: int = 0
    bytes: int = 0

    def __add__(self, other: InputObjects) -> InputObjects:
        return InputObjects(self.objects + other.objects, self.bytes + other.bytes)


@value(frozen=True, slots=True)
class Places:
    """Places of an input's objects.

    `listed`: all objects of the listing; `complete`: the listing is complete. `looked_at`: the examined objects, a
    random sample if there are many. `hosts`: how much of these each host holds a copy of, by the store's name or
    address of the host.
    """

    listed: InputObjects = field(default_factory=InputObjects)
    looked_at: InputObjects = field(default_factory=InputObjects)
    hosts: Mapping[str, InputObjects] = field(default_factory=dict)
    complete: bool = True


NODES_TOLD_MAX = 20


@value(frozen=True, slots=True)
class InputPlaces:
    """Places of an input: its name, and bytes by node; None: unknown."""

    name: str
    places: Places | None = None


def places_of(
    inputs: Iterable[StorageObject], tenant: str, locality: Mapping[Located, Places | None]
) -> tuple[InputPlaces, ...]:
    """Return the places of these inputs, as far as known, with the 20 nodes that hold most."""
    found = []
    for input_ in inputs:
        key = object_of(tenant, input_.uri)
        if key in locality:
            found.append(InputPlaces(input_.name, _largest_hosts(locality[key])))
    return tuple(found)


def _largest_hosts(places: Places | None) -> Places | None:
    if places is None or len(places.hosts) <= NODES_TOLD_MAX:
        return places
    most = sorted(places.hosts.items(), key=lambda item: (-item[1].bytes, -item[1].objects, item[0]))
    return replace(places, hosts=dict(most[:NODES_TOLD_MAX]))
