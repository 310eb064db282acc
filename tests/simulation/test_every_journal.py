"""Any journal that Zoe can write is replayed whole, and a policy without a change makes no difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.simulation.test_history_replay import as_it_was, replayed
from tests.support.checks import of_checks
from tests.support.every_journal import Busy, busy_world
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.arrays import ArrayEventKind
from zoe_lib.domain.executions.events import EVENT_TYPES
from zoe_lib.store.memory.state import Fact, State
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import TickRecord
from zoe_simulator.history_replay.answer import answer
from zoe_simulator.history_replay.kinds import KNOWN
from zoe_simulator.history_replay.recording import Recording, ReplayRefusedError, read_recording
from zoe_simulator.history_replay.rerun import Change, Rerun

_SAID_ONCE = ("forecasted", "reason_changed")
"""What is said to users, and changes nothing that happens."""


def happened(recording: Recording) -> Counter[tuple[str, str, float]]:
    """Everything in the journal since the begin."""
    entries = [e for m in recording.moments for e in (*m.news, *m.wrote) if e.kind in EVENT_TYPES]
    return Counter((e.execution_id or "", e.kind, e.at_s) for e in entries if e.kind not in _SAID_ONCE)


def again(recording: Recording, change: Change | None = None) -> Counter[tuple[str, str, float]]:
    found: Counter[tuple[str, str, float]] = Counter()
    for name, event in Rerun(recording, change).run():
        if event.kind not in _SAID_ONCE:
            found[name, event.kind, event.at_s] += 1
    return found


@pytest.mark.parametrize("seed", range(of_checks(0.02, 1000)))
def test_every_journal_is_replayed_whole(seed: int) -> None:
    world = busy_world(seed)
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    assert as_it_was(recording)
    assert replayed(recording) == as_it_was(recording)
    assert again(recording) == happened(recording)
    middle = read_recording(world.store, 1000.0 + (world.clock.now_s() - 1000.0) / 3, world.clock.now_s())
    assert replayed(middle) == as_it_was(middle)


@pytest.mark.parametrize("seed", range(of_checks(0.01, 1000)))
def test_a_policy_that_changes_nothing_makes_no_difference(seed: int) -> None:
    world = busy_world(seed)
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    same = Change({"storage_patience_s": Policy().storage_patience_s})
    assert again(recording, same) == again(recording)
    result, _ = answer(recording, same)
    assert result["figures"]["changed"] == result["figures"]["as it was"]
    assert result["series"]["changed"] == result["series"]["as it was"]
    assert (result["reproduced"], result["first_difference"]) == (result["decisions"], "")


@pytest.mark.parametrize("seed", range(5))
def test_another_policy_lets_everything_end_that_the_room_allows(seed: int) -> None:
    """It decides on promises itself, makes the indices of arrays, and runs services that did not run before."""
    world = busy_world(seed)
    recording = read_recording(world.store, 1000.0, world.clock.now_s())
    result, sides = answer(recording, Change({"backfill": "none"}, (world.nodes[0],)))
    assert set(sides) == {"as it was", "changed"}
    assert result["figures"]["changed"]["executions"] > 0


def test_every_kind_of_entry_is_known() -> None:
    written = {e.kind for seed in range(5) for e in busy_world(seed).store.journal(0, 100_000)}
    assert written <= KNOWN
    assert {*EVENT_TYPES, *map(str, ArrayEventKind), "policy_set", "restored"} == KNOWN


def refused(world: Busy) -> str:
    with pytest.raises(ReplayRefusedError) as caught:
        read_recording(world.store, 1000.0, world.clock.now_s())
    return str(caught.value)


def test_unknown_kinds_are_refused_by_name() -> None:
    world = busy_world(0, turns=3)
    note_fact(world, "moon_rises")
    assert "cannot replay the kinds of entries: moon_rises" in refused(world)


def test_records_of_other_formats_are_refused_with_what_they_lack() -> None:
    world = busy_world(1, turns=6)
    with_format(world, 3)
    assert refused(world) == "the records have format 3; this version of Zoe replays up to 2"
    with_format(world, None)
    found = refused(world)
    assert "did not record all that a replay of these entries needs: " in found
    assert "promise" in found


def test_a_restore_within_the_time_is_refused() -> None:
    world = busy_world(2, turns=3)
    note_fact(world, "restored")
    assert "was restored from a backup at 1970-" in refused(world)


def note_fact(world: Busy, kind: str) -> None:
    with state_of(world) as state:
        state.record_fact(Fact(kind, world.clock.now_s(), "test", {}))


def state_of(world: Busy) -> State:
    assert isinstance(world.store, MemoryStore)
    return world.store._state


def with_format(world: Busy, number: int | None) -> None:
    """Rewrite the complete records of ticks, as another version writes them."""

    def other(tick: TickRecord) -> TickRecord:
        inputs = {key: value for key, value in tick.inputs.items() if key != "format"}
        return replace(tick, inputs=inputs if number is None else {**inputs, "format": number})

    ticks = state_of(world).ticks
    ticks[:] = [other(tick) if tick.whole else tick for tick in ticks]
