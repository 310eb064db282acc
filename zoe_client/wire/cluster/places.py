"""Location of an execution's inputs: how much of them each node holds."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Wire


class HeldView(Wire):
    """How many of the examined objects a node holds, and how many services of the execution run on it."""

    node: str
    objects: int
    bytes: int
    services: int = Field(
        description="Services of the present attempt that were placed on the node and have not ended."
    )


class InputPlacesView(Wire):
    """Location of an input's objects: at the time of placement, or now while the execution waits.

    If there are very many objects, a random sample was examined: `objects` of `listed`.
    """

    name: str
    known: bool = Field(description="False if the object store did not say, for example without a credential.")
    objects: int = Field(default=0, description="Number of examined objects, without empty and hidden objects.")
    bytes: int = Field(default=0, description="Total size of the examined objects in bytes.")
    listed: int = Field(default=0, description="Number of objects listed.")
    complete: bool = Field(default=True, description="False if there are more objects than one listing contains.")
    nodes: list[HeldView] = Field(
        default=[], description="The 20 nodes that hold the most bytes, and all nodes with services; most bytes first."
    )
