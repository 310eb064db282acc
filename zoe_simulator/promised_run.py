"""A workload of which some ask for a promise, through the production master; run times are learned as it goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.application import Application, Component
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.events import Event, Promised, Refused
from zoe_lib.domain.execution import Cause, Execution, Outcome
from zoe_lib.domain.finish_times import PromiseOffers, PromiseWish
from zoe_lib.domain.policy import Policy
from zoe_master.loop.promise_decisions import PromiseDecisions
from zoe_master.state.promise_prices import StoredPrices
from zoe_simulator.elastic_run import ElasticRun
from zoe_simulator.progress import Progress
from zoe_simulator.workload import Arrival

_TICKS_AT_ONCE_MAX = 200


class PromisedRun(ElasticRun):
    """`kinds`: the name of each application, by number; those of one kind teach about each other. `wish`: what those
    with a deadline ask for; None: they ask for no promise. accept: users accept offers of the time that they asked for
    with less confidence. `refused` has those that got no promise, which do not run.
    """

    def __init__(
        self,
        workload: Sequence[Arrival],
        nodes: Sequence[Node],
        policy: Policy,
        kinds: Mapping[int, str],
        wish: PromiseWish | None,
        *,
        accept: bool = False,
    ) -> None:
        super().__init__(workload, nodes, policy)
        self._kinds = kinds
        self._wish = wish
        self._accept = accept
        self._decisions = PromiseDecisions(self._master.run_times, StoredPrices(list, self._clock))
        self.refused: list[Arrival] = []
        self.noticed: set[int] = set()

    def _submit(self, arrival: Arrival) -> None:
        execution_id, name = f"a{arrival.number:06}", self._kinds[arrival.number]
        component = Component(name, "study", arrival.component, essential_count=arrival.core, total_count=arrival.total)
        deadline_s = arrival.deadline_s if arrival.deadline_s < math.inf else None
        wish = self._wish if deadline_s is not None else None
        application = Application(name, (component,), expected_run_s=arrival.estimate_s, promise=wish)
        self._waiting[execution_id] = arrival
        self._store.submit(
            Execution(
                execution_id,
                execution_id,
                arrival.tenant,
                "study",
                application,
                arrival.submit_s,
                deadline_s=deadline_s,
            ),
            "study",
        )

    def _tick_until_at_rest(self) -> None:
        for _ in range(_TICKS_AT_ONCE_MAX):
            tick = self._master.tick()
            plan = tick.plan
            self.ticks += 1
            self._master.run_times.work_off(1000)
            self._count_losses(plan)
            for execution_id in plan.starts:
                self._active[execution_id] = Progress(self._waiting.pop(execution_id))
                self._started_s[execution_id] = self._clock()
            made = self._decisions.made_on(tick)
            self._master.tell_promises(made)
            self.noticed |= {int(one.execution.id[1:]) for one in made if one.notice is not None}
            answered = self._answer_offers()
            submitted = any(one not in self._offered() for one in self._master.cache.backlog.submitted)
            if not made and not answered and not plan.preempt and not plan.reserved and not submitted:
                self._count_running()
                return
        raise RuntimeError("the master does not come to rest")

    def _offered(self) -> set[Execution]:
        return {one for one in map(self._master.cache.get, self._waiting) if one is not None and one.offers is not None}

    def _answer_offers(self) -> bool:
        """Answer all offers at once, and return whether there were any; what got no promise does not run."""
        answered = False
        for execution_id in list(self._waiting):
            execution = self._store.execution(execution_id)
            if execution.terminal:
                self.refused.append(self._waiting.pop(execution_id))
            elif execution.offers is not None:
                answered, event = True, self._answer(execution.offers)
                self._store.append(execution_id, [event], execution.version, None)
                if isinstance(event, Refused):
                    self.refused.append(self._waiting.pop(execution_id))
        return answered

    def _answer(self, offers: PromiseOffers) -> Event:
        for number, one in enumerate(offers.offers, start=1):
            if self._accept and one.kind is OfferKind.LESS_SURE:
                return Promised(at_s=self._clock(), terms=one.terms, offer=number)
        return Refused(at_s=self._clock(), outcome=Outcome.FAILED, cause=Cause.NO_PROMISE)
