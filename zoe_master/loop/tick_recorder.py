"""Record inputs of ticks outside the journal, for replays; and read these records.

Only changes are recorded, and only for ticks that wrote events or could have decided. Once a day, and when a master
begins to lead, the record is complete: a replay may begin there. Counts of containers leave out Zoe's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Execution, ServiceState
from zoe_lib.domain.executions.promises import BandwidthSupply
from zoe_lib.domain.executions.use import DAY_S
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.storage import Located
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.values import TickRecord
from zoe_master.backends.base import ImageStatus

_HANDED_OVER = (ServiceState.STARTING, ServiceState.READY, ServiceState.STOPPING)


@value(frozen=True, slots=True)
class Inputs:
    """The inputs of a tick beside the journal: nodes by name, and missing images.

    From the object store: the guaranteeable bandwidth, and how much of the queue's inputs each node holds; `awaited`:
    inputs with unknown places. `paths`: the traffic of each node.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    images: Mapping[str, ImageStatus] = field(default_factory=dict)
    supply: BandwidthSupply | None = None
    locality: Mapping[Located, Places | None] = field(default_factory=dict)
    awaited: frozenset[Located] = frozenset()
    paths: Mapping[str, PathUse] = field(default_factory=dict)


@value(frozen=True, slots=True)
class TickInputs:
    """One tick: its inputs, its journal position, whether it wrote events, and whether executions wait."""

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
        """Write a record if a replay needs one."""
        day = int(seen.at_s // DAY_S)
        whole = day != self._day
        changes = encode(seen.inputs) if whole else _changes(self._last, seen.inputs)
        if not (whole or seen.wrote or (changes and (seen.waiting or _nodes_changed(self._last, seen.inputs)))):
            return
        record = TickRecord(seen.plan_id, seen.at_s, self._epoch, seen.read_to, whole, changes)
        self._store.add_tick(record, self._epoch)
        self._last, self._day = seen.inputs, day


def inputs_after(inputs: Inputs, record: TickRecord) -> Inputs:
    """Return the inputs of this record's tick, from those of the previous record's."""
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
    """Convert to the present form: older records have as places only the names of the nodes with any part of an
    input.
    """
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
    """Return the nodes by name, without Zoe's services and without admins' holds."""
    own = own_services(executions)
    return {n.name: replace(n, containers=n.containers - own[n.name], holds=()) for n in nodes}


def own_services(executions: Iterable[Execution]) -> Counter[str]:
    """Return per node the number of services handed to the back-end and not observed as ended."""
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


def _nodes_changed(before: Inputs, now: Inputs) -> bool:
    """Return whether nodes appeared, disappeared or changed, apart from their load."""
    return before.nodes.keys() != now.nodes.keys() or any(
        (old.total, old.ready, old.labels) != (new.total, new.ready, new.labels)
        for old, new in ((before.nodes[name], new) for name, new in now.nodes.items())
    )
