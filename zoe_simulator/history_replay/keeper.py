"""The object store in a replay: guarantees, views and transfers as recorded; after a change, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from storage_bridge.model import EndedTransfers, TransferTotals, ViewVerdict
from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.values.storage import Located
from zoe_master.loop.tick_recorder import Inputs
from zoe_master.storage.input_places import Told
from zoe_master.storage.path_uses import WEIGHER
from zoe_master.storage.slo_reconciler import DesiredSlos, StorageState
from zoe_simulator.history_replay.recording import Moment, to_event

_KINDS = frozenset(
    kind.kind
    for kind in (
        ev.StorageGranted,
        ev.StorageRefused,
        ev.StorageDeclined,
        ev.StorageWithdrawn,
        ev.StorageTransferred,
        ev.InputsDecided,
    )
)


class RecordedKeeper:
    """Answers of the storage controller. `moment`: the recorded tick that is replayed; None once something has changed:
    then every desired state is in force at once.
    """

    def __init__(self) -> None:
        self.moment: Moment | None = None
        self._seen = StorageState()
        self._inputs = Inputs()
        self._asked: frozenset[Located] = frozenset()

    def locate(self, objects: frozenset[Located]) -> None:
        """Record the requested places."""
        self._asked = objects

    def places(self) -> Told:
        """Return the recorded places; inputs that were neither located nor awaited have none."""
        return dict.fromkeys(self._asked - self._inputs.awaited) | dict(self._inputs.locality)

    def moved_bytes(self) -> None:
        """Ignore it: paths come from the record."""

    def paths(self, _nodes: Sequence[Node], policy: Policy) -> Mapping[str, PathUse]:
        """Return the recorded measurements."""
        return self._inputs.paths if policy.weighers.get(WEIGHER) else {}

    def look(self, inputs: Inputs) -> None:
        """Set the inputs of a tick."""
        assert inputs.supply is not None
        self._seen = replace(self._seen, supply=inputs.supply)
        self._inputs = inputs

    def set_desired(self, wanted: DesiredSlos) -> StorageState:
        """Put the SLOs in force."""
        self._seen = self._at_once(wanted) if self.moment is None else self._as_recorded(wanted, self.moment)
        return self._seen

    def _at_once(self, wanted: DesiredSlos) -> StorageState:
        held = frozenset(promise.execution_id for promise in wanted.promises)
        verdicts = {view_id: ViewVerdict(False, (), "plainly: it is a replay") for view_id in wanted.undecided}
        missing = wanted.missing(held)
        return replace(self._seen, held=held, verdicts=verdicts, missing=missing, refused={}, ended=())

    def _as_recorded(self, wanted: DesiredSlos, moment: Moment) -> StorageState:
        """Return the answers from which the entries of the recorded tick follow, and no others."""
        held: set[ExecutionId] = set()
        missing: set[ExecutionId] = set()
        refused: dict[ExecutionId, str] = {}
        verdicts: dict[str, ViewVerdict] = {}
        ended: list[EndedTransfers] = []
        for name, event in _events(moment):
            match event:
                case ev.StorageGranted():
                    held.add(name)
                case ev.StorageWithdrawn(why=why):
                    missing.add(name)
                    refused[name] = why
                case ev.StorageRefused(why=why) | ev.StorageDeclined(why=why):
                    refused[name] = why
                case ev.StorageTransferred():
                    ended.append(_transfers(name, event))
                case ev.InputsDecided():
                    verdicts |= _verdicts(name, event, wanted)
        held &= {promise.execution_id for promise in wanted.promises}
        state = replace(self._seen, held=frozenset(held), missing=frozenset(missing), refused=refused)
        return replace(state, verdicts=verdicts, ended=tuple(ended))

    def last_state(self) -> StorageState:
        """Return the last observation."""
        return self._seen

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _events(moment: Moment) -> Iterator[tuple[ExecutionId, ev.Event]]:
    return ((entry.execution_id or "", to_event(entry)) for entry in moment.wrote if entry.kind in _KINDS)


def _verdicts(execution_id: ExecutionId, event: ev.InputsDecided, wanted: DesiredSlos) -> Mapping[str, ViewVerdict]:
    """Return the verdicts on the undecided views of an execution."""
    found = {}
    for read in event.inputs:
        for view_id in wanted.undecided:
            _, _, name = view_id.removeprefix(f"{execution_id}-").partition("-")
            if view_id.startswith(f"{execution_id}-") and name == read.name:
                found[view_id] = ViewVerdict(bool(read.view), read.columns, read.why, read.share)
    return found


def _transfers(execution_id: ExecutionId, event: ev.StorageTransferred) -> EndedTransfers:
    one = event.transfers
    totals = TransferTotals(one.read_bytes, one.written_bytes, one.transferring_s, one.waiting_s)
    return EndedTransfers(execution_id, one.generation, totals, one.whole)
