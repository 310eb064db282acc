"""Describe where inputs are."""

from __future__ import annotations

from zoe_cli.units import count_with_noun, size
from zoe_client.quick.plain import Held, InputPlaces

_NODES_MAX = 3


def places_words(one: InputPlaces) -> str:
    """Return how much of an input the important nodes hold: those with its services, else those that hold most."""
    if not one["known"]:
        return "Zoe does not know which nodes hold its objects"
    if not one["objects"]:
        return "it has no objects"
    holding = [held for held in one["nodes"] if held["objects"] or held["services"]]
    shown = [held for held in holding if held["services"]] or holding[:_NODES_MAX]
    if not shown:
        return f"no node holds any of its {count_with_noun(one['objects'], 'object')}"
    text = ", ".join(_on_node(held, one) for held in shown)
    return text + (
        f" (a sample of {_count_text(one)})" if one["objects"] < one["listed"] or not one["complete"] else ""
    )


def _on_node(held: Held, one: InputPlaces) -> str:
    """Return text such as: 3 of 4 objects (75 MiB of 100 MiB) lie on node n2, with 2 of its services."""
    verb = "lies" if held["objects"] == 1 else "lie"
    services = f" with {held['services']} of its services" if held["services"] else ""
    objects = count_with_noun(one["objects"], "object")
    amounts = f"{held['objects']} of {objects} ({size(held['bytes'])} of {size(one['bytes'])})"
    return f"{amounts} {verb} on node {held['node']}{services}"


def _count_text(one: InputPlaces) -> str:
    listed = count_with_noun(one["listed"], "object")
    return listed if one["complete"] else f"more than {listed}"
