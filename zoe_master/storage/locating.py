"""Find the nodes that hold the inputs of queued executions; the scheduler waits a second at most for this."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.store_hosts import held_by_nodes, nodes_by_host
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.storage import Located, object_of
from zoe_master.state.state_cache import StateCache
from zoe_master.storage.input_places import Told
from zoe_master.storage.reconciler import StorageReconciler

WEIGHER = "locality"
PATIENCE_S = 1.0
"""How long an execution may wait for the first answer. A controller on a host of the store takes less than a tenth of
that.
"""
# Limits: the oldest executions with inputs, and remembered hosts of the store.
_EXECUTIONS_MAX = 1000
_HOSTS_MAX = 10_000
# After this many inputs without a node, the store counts as remote, and one input is checked each five minutes.
_ELSEWHERE = 20
_PROBE_S = 300.0
_LOCATING = Reason(ReasonCode.LOCATING_INPUTS, "The master is asking the object store where its inputs are.")


class InputLocator:
    """Connects the state cache to the reconciler.

    If the first inputs are on no node, the store is assumed to be on other machines: then only one input at a time is
    checked, to detect new hosts, and no execution waits. The first input on a node ends this.
    """

    def __init__(self, cache: StateCache, reconciler: StorageReconciler | None) -> None:
        self._cache = cache
        self._reconciler = reconciler
        self._hosts: set[str] = set()
        self._elsewhere: set[Located] = set()
        self._told: Told = {}
        self._apart = False
        self._probe: frozenset[Located] = frozenset()
        self._probed_s = 0.0
        self.awaited: frozenset[Located] = frozenset()
        """Inputs without an answer yet."""
        self._due_s: float | None = None

    def look(self, nodes: Sequence[Node], now_s: float) -> Told:
        """Return, by input, how much of it each node holds; None if unknown."""
        self._due_s, self.awaited = None, frozenset()
        if self._reconciler is None or not self._cache.policy.weighers.get(WEIGHER):
            self._told = {}
            return self._told
        inputs = frozenset(_inputs(self._reading()))
        self._reconciler.locate(self._probing(inputs, now_s) if self._apart else inputs)
        observed = self._reconciler.places()
        self.awaited = frozenset() if self._apart else inputs - observed.keys()
        if not observed:
            self._told = {}
            return self._told
        hosts = nodes_by_host(nodes)
        for text, places in observed.items():
            if places is not None and places.hosts and len(self._hosts) < _HOSTS_MAX:
                self._hosts |= places.hosts.keys()
                self._elsewhere.add(text)
        if not hosts.keys().isdisjoint(self._hosts):
            self._elsewhere.clear()
        self._apart = len(self._elsewhere) >= _ELSEWHERE
        self._told = {text: _on_nodes(observed[text], hosts) for text in sorted(inputs & observed.keys())}
        return self._told

    def waiting_executions(self, now_s: float) -> Mapping[ExecutionId, Reason]:
        """Return the executions that wait for an answer about their inputs."""
        if self._reconciler is None or self._apart or not self._cache.policy.weighers.get(WEIGHER):
            return {}
        found: dict[ExecutionId, Reason] = {}
        for execution in islice(self._cache.backlog.reading, _EXECUTIONS_MAX):
            until_s = execution.marks.get(Mark.QUEUED, 0.0) + PATIENCE_S
            waits = execution.state is ExecutionState.QUEUED and now_s < until_s
            if waits and any(input_ not in self._told for input_ in _inputs((execution,))):
                found[execution.id] = _LOCATING
                self._due_s = until_s if self._due_s is None else min(self._due_s, until_s)
        return found

    def due_s(self) -> float | None:
        """Return when the next execution stops waiting for an answer."""
        return self._due_s

    def _probing(self, wanted: frozenset[Located], now_s: float) -> frozenset[Located]:
        if wanted and now_s >= self._probed_s + _PROBE_S:
            self._probe, self._probed_s = frozenset({min(wanted)}), now_s
        return self._probe

    def _reading(self) -> Iterator[Execution]:
        """Return executions with inputs that may still be placed: the queue, and running ones that can grow."""
        yield from islice(self._cache.backlog.reading, _EXECUTIONS_MAX)
        growing = (e for e in self._cache.active() if e.application.malleable and _has_inputs(e))
        yield from islice(growing, _EXECUTIONS_MAX)


def _on_nodes(places: Places | None, hosts: Mapping[str, frozenset[str]]) -> Places | None:
    return None if places is None else replace(places, hosts=held_by_nodes(places, hosts))


def _has_inputs(execution: Execution) -> bool:
    storage = execution.application.storage
    return storage is not None and bool(storage.inputs)


def _inputs(executions: Iterable[Execution]) -> Iterator[Located]:
    for execution in executions:
        if execution.application.storage is not None:
            for input_ in execution.application.storage.inputs:
                yield object_of(execution.tenant, input_.uri)
