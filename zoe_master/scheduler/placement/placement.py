"""Filter and sort: choose nodes for a group of identical services."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.exact_packing import STEPS_OF_A_SEARCH, PlacementShortage, StepBudget
from zoe_lib.domain.applications.packing import pack_by_any_method
from zoe_lib.domain.cluster import policy as own
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.placement.budget import NODES_OF_A_STEP, GiveUp, OutOfBudget, never
from zoe_master.scheduler.placement.candidates import CandidateNodes
from zoe_master.scheduler.placement.filters import ROOM_FILTERS, STATIC_FILTERS, filter_named
from zoe_master.scheduler.placement.free_resources import Ledger, Scores
from zoe_master.scheduler.placement.request import Filter, Request
from zoe_master.scheduler.placement.weighers import STORAGE_WEIGHERS, WEIGHERS, WEIGHERS_OF_ONE

# Its expected begin and end, in seconds since the epoch.
Span = tuple[float, float]

# Maximum exact searches of full length in a pass; later executions get heuristics only.
_SEARCHES_OF_A_PASS = 10


def _for_ever(_execution: Execution) -> Span:
    return 0.0, math.inf


def _never(_execution: Execution) -> float:
    return math.inf


def _ends_of(span: Callable[[Execution], Span]) -> Callable[[Execution], float]:
    return lambda execution: span(execution)[1]


class NodeWeighing:
    """Weighers with their weights: `of_many` score nodes together, `of_one` a single one, if all of them can.

    A weigher that is not loaded has no effect. `kept`: scores may be kept for requests of the same kind, which is safe
    for Zoe's own weighers only.
    """

    def __init__(self, policy_weighers: Mapping[str, float]) -> None:
        weighers = {name: weight for name, weight in policy_weighers.items() if name in WEIGHERS}
        self.kept = own.WEIGHERS.issuperset(weighers)
        self.of_many = [(WEIGHERS[name], weight) for name, weight in weighers.items()]
        quick = all(name in WEIGHERS_OF_ONE for name in weighers)
        self.of_one = [(WEIGHERS_OF_ONE[name], weight) for name, weight in weighers.items()] if quick else None
        self.by_storage = not STORAGE_WEIGHERS.isdisjoint(weighers)


class PlacementRules:
    """The filters and weighers of a policy, grouped by use; `held`: some node has an admin's hold."""

    def __init__(self, policy: Policy, held: bool) -> None:
        filters = tuple(name for name in policy.filters if name != "holds")
        if held:
            filters = (*filters, "holds")  # an admin's holds apply under every policy
        self.static = [filter_named(name) for name in filters if name in STATIC_FILTERS]
        # Filters on data of the ledger (`has_room`) are checked there, many times faster and with the same result.
        self.dynamic = [filter_named(name) for name in filters if name not in STATIC_FILTERS | ROOM_FILTERS]
        self.of_plugins = [filter_named(name) for name in filters if name not in own.FILTERS]
        # A hold is reported before any other reason: while it lasts, no end of an execution opens the node.
        self.named = [(name, filter_named(name)) for name in sorted(filters, key=lambda name: name != "holds")]
        # If no node holds an input, or the application has none, this weigher changes nothing and costs nothing.
        self.plain = NodeWeighing({name: weight for name, weight in policy.weighers.items() if name != "locality"})
        self.with_places = NodeWeighing(policy.weighers)


# Those of the last pass: the next one has the same policy.
_last: list[tuple[Policy, bool, PlacementRules]] = []


def _rules(policy: Policy, held: bool) -> PlacementRules:
    for known, known_held, rules in _last:
        if known is policy and known_held is held:
            return rules
    rules = PlacementRules(policy, held)
    _last[:] = [(policy, held, rules)]
    return rules


class ServicePlacer:
    """Places groups on one ledger under one policy, for one pass.

    Answers of filters that depend only on node and labels are kept for the pass. `span` returns begin and end of an
    execution's expected use; without it, from now on for ever. `leaves_s` returns when it has ended for certain;
    without it, the end of `span`. Raises OutOfBudget once `give_up` returns True.
    """

    def __init__(
        self,
        ledger: Ledger,
        policy: Policy,
        span: Callable[[Execution], Span] = _for_ever,
        give_up: GiveUp = never,
        leaves_s: Callable[[Execution], float] | None = None,
    ) -> None:
        self.ledger = ledger
        self._give_up = give_up
        self.steps = StepBudget(_SEARCHES_OF_A_PASS * STEPS_OF_A_SEARCH)
        held = any(node.holds for node in ledger.nodes)
        # No other weigher needs it.
        self.span = span if held or ledger.booked is not None else _for_ever
        self.leaves_s = (leaves_s or _ends_of(span)) if held else _never
        rules = _rules(policy, held)
        self._static, self._dynamic, self._of_plugins = rules.static, rules.dynamic, rules.of_plugins
        self._named = rules.named
        self._plain = rules.plain
        self._with_places = rules.with_places if ledger.locality else rules.plain
        self._eligible: dict[tuple[tuple[str, str], ...], list[int]] = {}
        self._candidates: dict[Hashable, CandidateNodes] = {}
        self._placed_before: set[Hashable] = set()

    def with_ledger(self, ledger: Ledger) -> ServicePlacer:
        """Return the same policy on other accounts of the same nodes."""
        twin = ServicePlacer.__new__(ServicePlacer)
        twin.__dict__ |= self.__dict__ | {"ledger": ledger, "_candidates": {}, "_placed_before": set()}
        return twin

    def as_if_leaving(self, leaves_s: float, ledger: Ledger) -> ServicePlacer:
        """Return the same policy on other accounts, for executions that have ended by then."""
        twin = self.with_ledger(ledger)
        twin.leaves_s = lambda _execution: leaves_s
        return twin

    def check_budget(self, steps: int = 1) -> None:
        """Count these steps, and raise OutOfBudget if the caller gives up; also for walks without placements."""
        if self._give_up(steps):
            raise OutOfBudget

    def place(self, request: Request) -> list[int]:
        """Take room for up to `count` services, best node first; return the node index of each one that got room."""
        eligible = self.eligible_nodes(request)
        self.check_budget(1 + request.count + len(eligible) // NODES_OF_A_STEP)
        if len(eligible) == 1:
            return self._fill(request, eligible[0])
        weighing = self._weighing(request)
        if self._dynamic or not weighing.kept:
            return self._place_once(request)
        by_storage = (request.tenant, request.storage) if weighing.by_storage else None
        kind = (request.component.demand, by_storage, self._booked_key(request))
        candidates = self._candidates.get(kind)
        if candidates is None:
            if kind not in self._placed_before:
                self._placed_before.add(kind)
                return self._place_once(request)
            candidates = self._candidates[kind] = self._make_candidates(request)
        return self._place_from(candidates, request)

    def _place_from(self, candidates: CandidateNodes, request: Request) -> list[int]:
        placed: list[int] = []
        while len(placed) < request.count and (node := candidates.best()) is not None:
            self.ledger.take(node, request.component.reservation)
            placed.append(node)
        return placed

    def _place_once(self, request: Request) -> list[int]:
        """Place without keeping the scores of all nodes for the next time."""
        candidates = self._with_room(request, self.eligible_nodes(request))
        if self._dynamic:
            candidates = [i for i in candidates if self._passes(request, i, self._dynamic)]
        if not candidates:
            return []
        if len(candidates) == 1:
            return self._fill(request, candidates[0])
        scores = self._scores(request, candidates)
        placed: list[int] = []
        while len(placed) < request.count:
            best = int(scores.argmax())
            if scores[best] == -np.inf:
                break
            node = candidates[best]
            self.ledger.take(node, request.component.reservation)
            placed.append(node)
            scores[best] = self._scores(request, [node])[0] if self._has_room(request, node) else -np.inf
        return placed

    def _make_candidates(self, request: Request) -> CandidateNodes:
        return CandidateNodes(
            self.eligible_nodes(request),
            self.ledger,
            lambda nodes: self._with_room(request, nodes),
            lambda nodes: self._scores(request, nodes),
        )

    def _fill(self, request: Request, node: int) -> list[int]:
        """Use the only node as often as it has room."""
        placed: list[int] = []
        while len(placed) < request.count and self._has_room(request, node):
            self.ledger.take(node, request.component.reservation)
            placed.append(node)
        return placed

    def pack(self, requests: Sequence[Request]) -> list[list[int]] | None:
        """Take room for all of these requests by tight packing; return node indexes for each, or None without any
        change.
        """
        ledger = self.ledger
        eligible = {request.component.name: frozenset(self.eligible_nodes(request)) for request in requests}
        request_of = {request.component.name: request for request in requests}

        def is_allowed(component: Component, name: str) -> bool:
            self.check_budget()
            node = ledger.index[name]
            return node in eligible[component.name] and self._passes(request_of[component.name], node, self._dynamic)

        packed = pack_by_any_method(
            [(request.component, request.count) for request in requests],
            {node.name: self._unbooked_room(i, requests[0]) for i, node in enumerate(ledger.nodes)},
            is_allowed,
            self.steps,
        )
        if isinstance(packed, PlacementShortage):
            return None
        indices = [[ledger.index[node] for node in nodes] for nodes in packed]
        for request, nodes in zip(requests, indices, strict=True):
            for node in nodes:
                ledger.take(node, request.component.reservation)
        return indices

    def _unbooked_room(self, node: int, request: Request) -> Resources:
        free, booked = self.ledger.free(node), self.ledger.booked
        if booked is None:
            return free
        return free - booked.shortfall(node, request.begins_s, request.stays_until_s)

    def undo(self, request: Request, placed: Sequence[int]) -> None:
        """Undo one `place`."""
        for node in placed:
            self.ledger.give_back(node, request.component.reservation)

    @property
    def has_plugins(self) -> bool:
        """Return whether filters of plugins may refuse nodes."""
        return bool(self._of_plugins)

    def closed_by_plugins(self, request: Request) -> int:
        """Return how many nodes plugins' filters refuse even without any services."""
        if not self._of_plugins:
            return 0
        empty = self.ledger.without_services()
        return sum(any(check(request, node, empty) is not None for check in self._of_plugins) for node in empty.nodes)

    def refusals(self, request: Request) -> dict[str, tuple[str, str]]:
        """Return, for every node that cannot take one more: the filter that refused and its reason."""
        refusals = ((node, self._refusal(request, node)) for node in self.ledger.nodes)
        return {node.name: refusal for node, refusal in refusals if refusal is not None}

    def refused_by(self, request: Request) -> dict[str, int]:
        """Return how many nodes each filter refuses for one more, as in `refusals`."""
        reservation = request.component.reservation
        nodes: Iterable[Node] = self.ledger.nodes
        counts: Counter[str] = Counter()
        if not self._dynamic and not reservation.devices and self.ledger.booked is None:
            # Eligible nodes can lack only room, which the ledger knows for most nodes at once.
            eligible = self.eligible_nodes(request)
            counts["resources"] = len(eligible) - len(self.ledger.with_room(eligible, reservation))
            others = set(range(len(self.ledger.nodes))).difference(eligible)
            nodes = (self.ledger.nodes[i] for i in others)
        counts.update(refusal[0] for node in nodes if (refusal := self._refusal(request, node)) is not None)
        return dict(+counts)

    def _refusal(self, request: Request, node: Node) -> tuple[str, str] | None:
        answers = ((name, check(request, node, self.ledger)) for name, check in self._named)
        refused = next(((name, text) for name, text in answers if text is not None), None)
        if refused is not None or self._with_room(request, (self.ledger.index[node.name],)):
            return refused
        return "bookings", "the free room is booked for promised executions before the expected end of this one"

    def eligible_nodes(self, request: Request) -> list[int]:
        """Return the ready nodes with the labels of the request's component."""
        key = request.component.labels
        eligible = self._eligible.get(key)
        if eligible is None:
            ledger = self.ledger
            eligible = list(range(len(ledger.nodes)))
            for check in self._static:
                eligible = [i for i in eligible if check(request, ledger.nodes[i], ledger) is None]
            self._eligible[key] = eligible
        return eligible

    def _has_room(self, request: Request, node: int) -> bool:
        if not self._with_room(request, (node,)):
            return False
        return not self._dynamic or self._passes(request, node, self._dynamic)

    def _with_room(self, request: Request, nodes: Iterable[int]) -> list[int]:
        """Return the nodes with room for one more that is not booked."""
        ledger, amount = self.ledger, request.component.reservation
        found = ledger.with_room(nodes, amount)
        if ledger.booked is None or request.gives_way:
            return found
        return ledger.booked.nodes_with_room(found, amount, request.begins_s, request.stays_until_s, ledger.free)

    def _booked_key(self, request: Request) -> Hashable:
        booked = self.ledger.booked
        return None if booked is None or request.gives_way else booked.key(request.begins_s, request.stays_until_s)

    def _passes(self, request: Request, node: int, filters: Sequence[Filter]) -> bool:
        value = self.ledger.nodes[node]
        return all(check(request, value, self.ledger) is None for check in filters)

    def _scores(self, request: Request, nodes: Sequence[int]) -> Scores:
        weighing = self._weighing(request)
        if len(nodes) == 1 and weighing.of_one is not None:
            score = sum(weight * weigh(nodes[0], self.ledger) for weigh, weight in weighing.of_one)
            return np.array([score], dtype=np.float64)
        indexes = np.array(nodes, dtype=np.intp)
        total: Scores = np.zeros(len(nodes))
        for weigh, weight in weighing.of_many:
            total += weight * weigh(request, indexes, self.ledger)
        return total

    def _weighing(self, request: Request) -> NodeWeighing:
        return self._with_places if request.storage is not None and request.storage.inputs else self._plain
