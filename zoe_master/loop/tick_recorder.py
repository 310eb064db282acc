"""Writes down what ticks see of the world outside the journal, so that they can be replayed; and reads it again.

Only what has changed is written, and only by ticks that wrote events or could have decided something. Once a day, and
when a master begins to lead, everything is: a replay may begin there. Containers are counted without Zoe's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from zoe_lib.domain.cluster import Node
from zoe_lib.domain.execution import Execution, ServiceState
from zoe_lib.domain.locality import InputObjects, Places
from zoe_lib.domain.path_use import PathUse
from zoe_lib.domain.promises import BandwidthSupply
from zoe_lib.domain.storage import Located
from zoe_lib.domain.use import DAY_S
from zoe_lib.domain.values import value
from zoe_lib.store.base import ExecutionStore, TickRecord
from zoe_lib.store.codec import decode, encode
from zoe_master.backends.base import ImageStatus

_HANDED_OVER = (ServiceState.STARTING, ServiceState.READY, ServiceState.STOPPING)


@value(frozen=True, slots=True)
class Inputs:
    """What a tick sees beside the journal: nodes by name, images that are not there.

    Of the store of objects, the bandwidth to be promised, and what nodes hold of what the queue is to read;
    `awaited` are inputs about which the store was asked and had not answered. `paths`: what nodes move there.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    images: Mapping[str, ImageStatus] = field(default_factory=dict)
    supply: BandwidthSupply | None = None
    locality: Mapping[Located, Places | None] = field(default_factory=dict)
    awaited: frozenset[Located] = frozenset()
    paths: Mapping[str, PathUse] = field(default_factory=dict)


@value(frozen=True, slots=True)
class TickInputs:
    """One tick: its inputs, what it knew of the journal, whether it wrote events, and whether anything waits."""

    plan_id: str
    at_s: float
    read_to: int
    inputs: Inputs
    wrote: bool
    waiting: bool


class TickRecorder:
    """The records of one leader."""

    def __init__(self, store: ExecutionStore, epoch: int) -> None:
        self._store = store
        self._epoch = epoch
        self._last = Inputs()
        self._day: int | None = None

    def keep(self, seen: TickInputs) -> None:
        """Write a record, if there is a use for one."""
        day = int(seen.at_s // DAY_S)
        whole = day != self._day
        changes = encode(seen.inputs) if whole else _changes(self._last, seen.inputs)
        if not (whole or seen.wrote or (changes and (seen.waiting or _reshaped(self._last, seen.inputs)))):
            return
        record = TickRecord(seen.plan_id, seen.at_s, self._epoch, seen.read_to, whole, changes)
        self._store.add_tick(record, self._epoch)
        self._last, self._day = seen.inputs, day


def after(inputs: Inputs, record: TickRecord) -> Inputs:
    """What the tick of a record saw, after those of the record before it."""
    readable = _readable(record.inputs)
    if record.whole:
        return decode(Inputs, readable)
    changed = dict(readable)
    nodes = dict(inputs.nodes)
    touched = changed.pop("nodes", {})
    assert isinstance(touched, Mapping)
    for name, node in touched.items():
        if node is None:
            nodes.pop(name, None)
        else:
            nodes[name] = decode(Node, node)
    return replace(decode(Inputs, {**encode(replace(inputs, nodes={})), **changed}), nodes=nodes)


def _readable(inputs: Mapping[str, object]) -> Mapping[str, object]:
    """In the form of now: before, places were the names of the nodes that hold an input, whatever it had in it."""
    locality = inputs.get("locality")
    if not isinstance(locality, Mapping):
        return inputs
    one = encode(InputObjects(1, 1))

    def in_form(places: object) -> object:
        if not isinstance(places, list):
            return places
        return {"listed": one, "looked_at": one, "hosts": dict.fromkeys(places, one)}

    return {**inputs, "locality": {name: in_form(places) for name, places in locality.items()}}


def without_own(nodes: Iterable[Node], executions: Iterable[Execution]) -> Mapping[str, Node]:
    """The nodes by name, as they would be if none of Zoe's services ran there and no admin held them."""
    own = own_services(executions)
    return {n.name: replace(n, containers=n.containers - own[n.name], hold=None) for n in nodes}


def own_services(executions: Iterable[Execution]) -> Counter[str]:
    """How many services the back-end was given for each node and has not been seen to end."""
    return Counter(
        service.node
        for execution in executions
        for service in execution.services
        if service.node is not None and service.state in _HANDED_OVER
    )


def _changes(before: Inputs, now: Inputs) -> dict[str, object]:
    nodes: dict[str, object] = {
        name: encode(node) for name, node in now.nodes.items() if before.nodes.get(name) != node
    }
    nodes.update(dict.fromkeys(before.nodes.keys() - now.nodes.keys()))
    result: dict[str, object] = {"nodes": nodes} if nodes else {}
    for name in ("images", "supply", "locality", "awaited", "paths"):
        if getattr(now, name) != getattr(before, name):
            result[name] = encode(getattr(now, name))
    return result


def _reshaped(before: Inputs, now: Inputs) -> bool:
    """Whether nodes came, went, or are other ones now, whatever else works there."""
    return before.nodes.keys() != now.nodes.keys() or any(
        (old.total, old.ready, old.labels) != (new.total, new.ready, new.labels)
        for old, new in ((before.nodes[name], new) for name, new in now.nodes.items())
    )
