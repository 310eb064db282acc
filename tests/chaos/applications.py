"""Submissions of clients: jobs, groups with elastic workers, and executions that run until they are cancelled.

Beside an object store, some ask for bandwidth, or have an input of which the store selects.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from enum import StrEnum

from tests.support.documents import Document, document, part

CORES = {"main": 0.1, "worker": 0.05}
SERVICE = "zoe"
_RATE = 2_000_000
_INPUT_RATE = 1_000_000


class Store(StrEnum):
    """What an execution asks of the object store."""

    NONE = "none"
    REQUIRED = "required"
    PREFERRED = "preferred"
    INPUT = "input"


ESSENTIAL: Mapping[str, Mapping[str, int]] = {
    "job": {"main": 1},
    "group": {"main": 1, "worker": 2},
    "long": {"main": 1},
}
AWAITS: Mapping[Store, frozenset[str]] = {
    Store.NONE: frozenset(),
    Store.REQUIRED: frozenset({"storage_granted"}),
    Store.PREFERRED: frozenset(),
    Store.INPUT: frozenset({"storage_granted", "inputs_decided"}),
}
"""What must be in the journal before anything of it starts."""
_SIGNS = "echo $ZOE_SERVICE_ID {word} $(date +%s.%N) >> {{shared}}/history"
_INPUTS = [
    {
        "name": "meters",
        "uri": f"swift2d://meters.{SERVICE}/2015",
        "pushdown": {"columns": ["id", "kwh"], "where": "city = 'Nice' and kwh > 90"},
    }
]
_STORAGE: Mapping[Store, Document] = {
    Store.REQUIRED: {"bandwidth": {"read": _RATE, "guarantee": "required"}},
    Store.PREFERRED: {"bandwidth": {"read": _RATE, "guarantee": "preferred"}},
    Store.INPUT: {"inputs": _INPUTS, "bandwidth": {"read": _INPUT_RATE, "guarantee": "required"}},
}


def documents(chance: random.Random, stores: Sequence[Store] = (Store.NONE,)) -> Document:
    """Return one of the applications; its name has the kind, and its demands on the store."""
    kind, store = chance.choice(("job", "job", "group", "long")), chance.choice(stores)
    seconds = 600 if kind == "long" else round(chance.uniform(0, 3), 2)
    parts = [_part("main", seconds, ends_application=True)]
    if kind == "group":
        parts.append(_part("worker", 600, essential_count=2, total_count=4))
    storage = {"storage": _STORAGE[store]} if store in _STORAGE else {}
    return document(*parts, name=f"{kind}-{store}", **storage)


def essential_of(name: str) -> Mapping[str, int]:
    """Return how many of each component must be ready, by the name of the execution."""
    return ESSENTIAL[name.partition("-")[0]]


def awaited_by(name: str) -> frozenset[str]:
    """Return the kinds of entries that must stand before a start."""
    return AWAITS[Store(name.partition("-")[2])]


def _part(name: str, seconds: float, **changes: object) -> Document:
    script = f"{_SIGNS.format(word='start')}; sleep {seconds}; {_SIGNS.format(word='end')}"
    resources = {"memory": "16MiB", "cores": CORES[name]}
    return part(name, "sh", "-c", script, resources=resources, **changes)
