"""Where inputs lie, in words."""

from __future__ import annotations

from zoe_cli.units import counted, size
from zoe_lib.wire import HeldView, InputPlacesView

_NODES_MAX = 3


def places_words(one: InputPlacesView) -> str:
    """What the nodes that matter hold of an input: those that have its services, else those that hold most."""
    if not one.known:
        return "it is not known on which nodes its objects lie"
    if not one.objects:
        return "there are no objects"
    holding = [held for held in one.nodes if held.objects or held.services]
    shown = [held for held in holding if held.services] or holding[:_NODES_MAX]
    if not shown:
        return f"none of its {counted(one.objects, 'object')} lies on a node"
    text = ", ".join(_on_node(held, one) for held in shown)
    return text + (f" (a sample of {_listed(one)})" if one.objects < one.listed or not one.complete else "")


def _on_node(held: HeldView, one: InputPlacesView) -> str:
    """As in: 3 of 4 objects (75 MiB of 100 MiB) lie on node n2, with 2 services of it."""
    verb = "lies" if held.objects == 1 else "lie"
    services = f" with {held.services} of its services" if held.services else ""
    amounts = f"{held.objects} of {counted(one.objects, 'object')} ({size(held.bytes)} of {size(one.bytes)})"
    return f"{amounts} {verb} on node {held.node}{services}"


def _listed(one: InputPlacesView) -> str:
    listed = counted(one.listed, "object")
    return listed if one.complete else f"more than {listed}"
