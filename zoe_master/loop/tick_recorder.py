"""Record inputs of ticks outside the journal, for replays; and read these records.

Only changes are recorded, and only for ticks that wrote events or could have decided. Once a day, and when a master
begins to lead, the record is complete, and has the number of its format: a replay may begin there. Counts of containers
leave out Zoe's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TypeVar

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
from zoe_master.scheduler.booking.bookings import Booking

T = TypeVar("T")
FORMAT = 2
"""Number of the present format of records and entries. Before 2, records had no bookings of promises, and entries about
arrays did not say what had been changed.
"""
_FORMAT = "format"
_BY_NAME = ("nodes", "bookings")
# It changes with each pass over a long queue, so that it causes no record of its own.
_SCAN = "scan_from"
_HANDED_OVER = (ServiceState.STARTING, ServiceState.READY, ServiceState.STOPPING)


@value(frozen=True, slots=True)
class Inputs:
    """The inputs of a tick beside the journal: nodes by name, and missing images.

    From the object store: the guaranteeable bandwidth, and how much of the queue's inputs each node holds; `awaited`:
    inputs with unknown places. `paths`: the traffic of each node. `bookings`: room for promises and offers after the
    decisions that this tick took, by name. `scan_from`: where the pass over a long queue began.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    images: Mapping[str, ImageStatus] = field(default_factory=dict)
    supply: BandwidthSupply | None = None
    locality: Mapping[Located, Places | None] = field(default_factory=dict)
    awaited: frozenset[Located] = frozenset()
    paths: Mapping[str, PathUse] = field(default_factory=dict)
    bookings: Mapping[str, Booking] = field(default_factory=dict)
    scan_from: int = 0


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
        changes = {_FORMAT: FORMAT, **encode(seen.inputs)} if whole else _changes(self._last, seen.inputs)
        matters = seen.waiting or _nodes_changed(self._last, seen.inputs) or "bookings" in changes
        if not (whole or seen.wrote or (changes.keys() - {_SCAN} and matters)):
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
    nodes = _merged(Node, inputs.nodes, changed.pop("nodes", {}))
    bookings = _merged(Booking, inputs.bookings, changed.pop("bookings", {}))
    rest = encode(replace(inputs, nodes={}, bookings={}))
    return replace(decode(Inputs, {**rest, **changed}), nodes=nodes, bookings=bookings)


def format_of(record: TickRecord) -> int:
    """Return the number of the format of a complete record."""
    number = record.inputs.get(_FORMAT, 1)
    assert isinstance(number, int)
    return number


def _merged(kind: type[T], before: Mapping[str, T], changes: object) -> Mapping[str, T]:
    """Return values by name after these changes, in which null removes one."""
    assert isinstance(changes, Mapping)
    after = {name: one for name, one in before.items() if changes.get(name, one) is not None}
    return after | {name: decode(kind, one) for name, one in changes.items() if one is not None}


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
    result: dict[str, object] = {}
    for name in _BY_NAME:
        old, new = getattr(before, name), getattr(now, name)
        if old is not new and old != new:
            some = {key: encode(one) for key, one in new.items() if old.get(key) != one}
            result[name] = some | dict.fromkeys(old.keys() - new.keys())
    for name in ("images", "supply", "locality", "awaited", "paths", _SCAN):
        if getattr(now, name) != getattr(before, name):
            result[name] = encode(getattr(now, name))
    return result


def _nodes_changed(before: Inputs, now: Inputs) -> bool:
    """Return whether nodes appeared, disappeared or changed, apart from their load."""
    return before.nodes.keys() != now.nodes.keys() or any(
        (old.total, old.ready, old.labels) != (new.total, new.ready, new.labels)
        for old, new in ((before.nodes[name], new) for name, new in now.nodes.items())
    )
