"""Places of the inputs of an execution: how much of them each node holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from zoe_lib.domain.execution import Execution
from zoe_lib.domain.locality import InputObjects, InputPlaces, Places
from zoe_lib.wire.base import Wire


class HeldView(Wire):
    """How many of the examined objects a node holds, and how many services of the execution run on it."""

    node: str
    objects: int
    bytes: int
    services: int = Field(
        description="Services of the present attempt that were placed on the node and have not ended."
    )


class InputPlacesView(Wire):
    """Where the objects of an input lie: at the time of placement, or now while the execution waits.

    If there are very many objects, a random sample was examined: `objects` of `listed`.
    """

    name: str
    known: bool = Field(description="False if the object store did not say, for example without a credential.")
    objects: int = Field(default=0, description="Number of examined objects, without empty and hidden ones.")
    bytes: int = Field(default=0, description="Total size of the examined objects in bytes.")
    listed: int = Field(default=0, description="Number of objects listed.")
    complete: bool = Field(default=True, description="False if there are more objects than one listing has.")
    nodes: list[HeldView] = Field(
        default=[], description="The 20 nodes that hold most bytes, and all nodes that have services; most bytes first."
    )

    @classmethod
    def stored(cls, execution: Execution) -> list[InputPlacesView]:
        """Return the places recorded when the present attempt was placed."""
        alive = (s.node for s in execution.services if s.alive and s.node is not None)
        services = Counter(alive)
        return [cls._of(one, services) for one in execution.places]

    @classmethod
    def told(cls, places: Iterable[InputPlaces]) -> list[InputPlacesView]:
        """Return the places that the master reports for a waiting execution."""
        return [cls._of(one, Counter()) for one in places]

    @classmethod
    def _of(cls, input_places: InputPlaces, services: Counter[str]) -> InputPlacesView:
        if input_places.places is None:
            return cls(name=input_places.name, known=False)
        places: Places = input_places.places
        nodes = [
            HeldView(node=node, objects=held.objects, bytes=held.bytes, services=services[node])
            for node in sorted(places.hosts.keys() | services.keys())
            for held in [places.hosts.get(node, InputObjects())]
        ]
        return cls(
            name=input_places.name,
            known=True,
            objects=places.looked_at.objects,
            bytes=places.looked_at.bytes,
            listed=places.listed.objects,
            complete=places.complete,
            nodes=sorted(nodes, key=lambda held: (-held.bytes, held.node)),
        )
