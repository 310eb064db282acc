"""Worlds in which everything happens that a journal can hold, beside masters that record their ticks."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from storage_bridge.simulated import SimulatedController
from tests.simulation.test_promises import Promising
from tests.simulation.test_storage import CAPACITY, wants
from tests.simulation.world import application, component, node, random_application, random_behaviour
from tests.support.limits import tenant_limit
from zoe_client.vocabulary import DependencyKind, Holder
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.executions import arrays as domain
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.storage import Guarantee
from zoe_lib.store.values import ArrayChange
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.attempt_programs import AttemptProgramCall, AttemptProgramEnd, AttemptProgramKind
from zoe_master.loop.master import Master
from zoe_master.loop.tick_recorder import TickRecorder
from zoe_master.state.crash_points import CrashPoint


class TimedPrograms:
    """Prologues and epilogues of the simulated clock: each takes its time, and may fail."""

    def __init__(self, seed: int, now_s: Callable[[], float]) -> None:
        self._chance, self._now_s = random.Random(seed), now_s
        self.programs: Mapping[AttemptProgramKind, str] = {}
        self._ends: dict[AttemptProgramCall, tuple[float, AttemptProgramEnd]] = {}

    def is_set(self, kind: AttemptProgramKind) -> bool:
        return kind in self.programs

    def result(self, call: AttemptProgramCall, variables: Mapping[str, str]) -> AttemptProgramEnd | None:
        if call not in self._ends:
            code = self._chance.choice([0, 0, 0, 0, 7])
            self._ends[call] = self._now_s() + self._chance.choice([0.0, 1.5, 4.0]), AttemptProgramEnd(code, "done")
        ends_s, end = self._ends[call]
        return end if self._now_s() >= ends_s else None

    def is_begun(self, call: AttemptProgramCall) -> bool:
        return call in self._ends

    def forget(self, call: AttemptProgramCall) -> None:
        self._ends.pop(call, None)


class Busy(Promising):
    """Records ticks and decides promises. Users act between ticks, and in the middle of some."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._behaviours: dict[str, ServiceBehaviour] = {}
        self.submitted: list[str] = []
        self.arrays: list[str] = []
        self._racing: str | None = None
        nodes = [node("n1", cores=6, memory_gib=12), node("n2", cores=4, memory_gib=8), node("n3", cores=3)]
        controller = SimulatedController(CAPACITY) if self.chance.random() < 0.5 else None
        programs = TimedPrograms(seed, lambda: self.clock.now_s())  # noqa: PLW0108 - its clock is made later
        super().__init__(nodes, behave=self._behave, controller=controller, programs=programs)
        self.programs: TimedPrograms = programs
        self.nodes = nodes
        backfill = self.chance.choice(["easy", "easy-sjbf", "conservative", "none"])
        self.set_policy(backfill=backfill, promise_share=0.8, retry_backoff_s=2.0, promise_offer_s=20.0)

    def _behave(self, start: ServiceStart) -> ServiceBehaviour:
        return self._behaviours.setdefault(start.service_id, random_behaviour(self.chance))

    def restart(self) -> None:
        self.store.stop_leading()
        epoch = self.store.try_lead("test")
        assert epoch is not None
        self.master = Master(
            self.store,
            self.backend,
            epoch,
            clock=self.clock,
            hit=self._reach,
            tick_recorder=TickRecorder(self.store, epoch),
            storage=self.keeper_of(self.controller) if self.controller is not None else None,
            programs=self.programs,
        )

    def _reach(self, step: CrashPoint) -> None:
        super()._reach(step)
        if step is CrashPoint.PLANNED and self._racing is not None:
            racing, self._racing = self._racing, None
            self.cancel(racing)

    def set_policy(self, **fields: object) -> None:
        present = self.store.policy()
        self.store.set_policy(replace(present, **fields), present.version, self.clock.now_s(), "admin")

    # What happens

    def act(self) -> None:
        """Do one of the things that users, admins and machines do."""
        chance = self.chance
        self.submit_something()
        for likely, thing in (
            (0.3, self._cancel),
            (0.3, self._control),
            (0.4, self._accept),
            (0.3, self._control_array),
            (0.25, self._change_policy),
            (0.15, self._race),
            (0.15, self._other_programs),
            (0.15, self._nodes),
            (0.1, lambda: self.crash_once_at(chance.choice(list(CrashPoint)), chance.randint(1, 3))),
            (0.1, self.restart),
        ):
            if chance.random() < likely:
                thing()

    def submit_something(self) -> None:
        chance = self.chance
        kind = chance.choice(["plain", "plain", "promise", "promise", "group", "array", "array", "reader"])
        if kind == "plain":
            self.submitted.append(self.submit(random_application(chance), conditions=self._conditions()))
        elif kind == "promise":
            self.submitted.append(self.ask(self._job(), chance.choice([15.0, 60.0, 200.0, 900.0])))
        elif kind == "group":
            self._submit_group()
        elif kind == "array":
            self._submit_array()
        elif self.controller is not None:
            app = wants(chance.choice([30, 60, 90]), chance.choice(list(Guarantee)))
            self.submitted.append(self.submit(app))

    def _job(self) -> Application:
        chance, run_s = self.chance, self.chance.choice([8.0, 25.0, 60.0])
        return application(
            component("job", 1, chance.choice([1, 1, 3]), cores=chance.randint(1, 4)),
            expected_run_s=run_s,
            retries=chance.choice([0, 1]),
        )

    def _conditions(self) -> Conditions:
        chance = self.chance
        known = [*self.submitted, *self.arrays]
        others = chance.sample(known, min(len(known), chance.choice([0, 0, 1, 2])))
        return Conditions(
            held=chance.choice([None] * 9 + [Holder.USER]),
            begin_at_s=chance.choice([None, None, None, self.clock.now_s() + chance.randint(1, 40)]),
            after=tuple(Dependency(chance.choice([*DependencyKind]), other) for other in others),
            keep=chance.random() < 0.5,
        )

    def _submit_group(self) -> None:
        chance, ids = self.chance, list[str]()
        number = chance.randint(2, 4)
        whole = f"w{len(self.submitted)}"
        by_s = self.clock.now_s() + chance.choice([40.0, 200.0, 800.0])
        for _ in range(number):
            after = tuple(Dependency(DependencyKind.OK, other) for other in chance.sample(ids, min(len(ids), 1)))
            conditions = Conditions(after=after, whole=whole, members=number)
            asked = changed(self._job(), promise=PromiseWish(0.8))
            ids.append(self.submit(asked, deadline_s=by_s, conditions=conditions))
        self.submitted += ids

    def _submit_array(self) -> None:
        chance, now_s = self.chance, self.clock.now_s()
        indices, at_once = parse_array(chance.choice(["0-2", "0-7%2", "1,3,9", "0-5"]), 100)
        promised = chance.random() < 0.3
        job = changed(self._job(), promise=PromiseWish(0.7)) if promised else self._job()
        array = Array(
            id=f"a{len(self.arrays):014}",
            name="sweep",
            tenant="default",
            user="ada",
            application=job,
            submitted_at_s=now_s,
            indices=indices,
            at_once=at_once,
            deadline_s=now_s + chance.choice([60.0, 400.0]) if promised or chance.random() < 0.2 else None,
            conditions=NO_CONDITIONS if promised else self._conditions(),
        )
        self.store.submit_array(array, "test")
        self.arrays.append(array.id)

    def _cancel(self) -> None:
        if self.submitted:
            self.cancel(self.chance.choice(self.submitted))

    def _race(self) -> None:
        """Cancel an execution while a master decides on it."""
        waiting = [e.id for e in self.store.active() if e.state is ExecutionState.QUEUED]
        self._racing = self.chance.choice(waiting) if waiting else None

    def _accept(self) -> None:
        now_s = self.clock.now_s()
        for execution in self.store.active():
            offers = execution.offers
            if offers is None or execution.conditions.whole or not offers.offers:
                continue
            number = self.chance.randint(1, len(offers.offers))
            terms = offers.terms(number, now_s)
            if terms is not None and now_s < offers.ends_of(number):
                event = ev.promised_event(execution, terms, at_s=now_s, cause_id="ada", offer=number, user="ada")
                self._try(execution, event)

    def _control(self) -> None:
        active = self.store.active()
        if active:
            execution = self.chance.choice(active)
            events = [self._held(), self._modified(execution), self._scaled(execution), self._given(execution)]
            events += [ev.Released(at_s=self.clock.now_s(), user="ada"), self._requeued()]
            for event in self.chance.sample(events, len(events)):
                if self._try(execution, event):
                    return

    def _held(self) -> ev.Event:
        return ev.Held(at_s=self.clock.now_s(), by=Holder.USER, user="ada")

    def _requeued(self) -> ev.Event:
        return ev.Stopping(at_s=self.clock.now_s(), outcome=Outcome.FAILED, cause=Cause.REQUEUED)

    def _modified(self, execution: Execution) -> ev.Event:
        before = ev.Requested.of_execution(execution)
        after = replace(before, priority=self.chance.randint(-2, 2))
        return ev.Modified(at_s=self.clock.now_s(), before=before, after=after)

    def _scaled(self, execution: Execution) -> ev.Event:
        one = self.chance.choice(execution.application.components)
        counts = {one.name: one.essential_count + self.chance.randint(0, 2)}
        before = {one.name: one.total_count}
        return ev.Scaled(at_s=self.clock.now_s(), cause_id="scaling", before=before, total_counts=counts)

    def _given(self, execution: Execution) -> ev.Event:
        return ev.OwnerChanged(at_s=self.clock.now_s(), former=execution.user, user=self.chance.choice(["ada", "bob"]))

    def _try(self, execution: Execution, event: ev.Event) -> bool:
        with suppress(IllegalTransition):
            self.store.append(execution.id, [event], execution.version, None)
            self.waker.wake()
            return True
        return False

    def _control_array(self) -> None:
        if self.arrays:
            decide = self.chance.choice([_hold, _release, _cancel, _cancel_some, _again, _modify, _give])
            self.store.change_array(self.chance.choice(self.arrays), decide, self.clock.now_s(), "ada")

    def _change_policy(self) -> None:
        chance, now_s = self.chance, self.clock.now_s()
        window = NodeHold(None, now_s + 5.0, now_s + chance.choice([20.0, 60.0]), "work")
        self.set_policy(
            **chance.choice(
                [
                    {"order": chance.choice(["sjf", "size", "fifo", "psbs", "fair-share"])},
                    {"node_holds": {"n2": NodeHold()}},
                    {"node_holds": {}},
                    {"node_windows": {"n3": (window,)}},
                    {"promise_share": chance.choice([0.3, 0.9])},
                    {"tenant_limits": {"default": tenant_limit(cores_milli=chance.choice([4000, 9000]))}},
                    {"tenant_limits": {}},
                ]
            )
        )

    def _other_programs(self) -> None:
        kinds = [kind for kind in AttemptProgramKind if self.chance.random() < 0.5]
        self.programs.programs = dict.fromkeys(kinds, "/opt/program")

    def _nodes(self) -> None:
        if self.chance.random() < 0.5:
            self.backend.lose_node("n2")
        else:
            self.backend.set_node(self.nodes[1])


def busy_world(seed: int, turns: int = 15) -> Busy:
    """Return a world after random turns, and some time to settle."""
    world = Busy(seed)
    for _ in range(turns):
        world.act()
        world.run(world.chance.choice([0.0, 1.0, 3.0, 12.0, 30.0]))
    world.run(150.0)
    return world


def _hold(array: Array, _: bytearray) -> ArrayChange | None:
    after = domain.hold(array, Holder.USER)
    return None if after is array else ArrayChange(after, ArrayEventKind.HELD, {"user": "ada"})


def _release(array: Array, _: bytearray) -> ArrayChange | None:
    if array.conditions.held is None:
        return None
    return ArrayChange(domain.release(array), ArrayEventKind.RELEASED, {"user": "ada"})


def _cancel(array: Array, states: bytearray) -> ArrayChange | None:
    after = domain.cancel(array, states, "ada")
    return None if after is array else ArrayChange(after, ArrayEventKind.CANCELLED, {"user": "ada"})


def _cancel_some(array: Array, states: bytearray) -> ArrayChange | None:
    only, _ = parse_array(str(array.indices.highest), 10)
    after = domain.cancel(array, states, "ada", only)
    return None if after is array else ArrayChange(after, ArrayEventKind.CANCELLED, {"indices": str(only)})


def _again(array: Array, states: bytearray) -> ArrayChange | None:
    after = domain.again(array, states)
    return None if after is array else ArrayChange(after, ArrayEventKind.AGAIN, {"user": "ada"})


def _modify(array: Array, _: bytearray) -> ArrayChange | None:
    if not array.open_count:
        return None
    return ArrayChange(changed(array, priority=array.priority + 1, at_once=3), ArrayEventKind.MODIFIED, {})


def _give(array: Array, _: bytearray) -> ArrayChange | None:
    return ArrayChange(changed(array, user="bob"), ArrayEventKind.OWNER, {"former": array.user, "user": "bob"})
