"""The result of a replay as JSON: figures side by side, the self-test, and the data of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zoe_lib.domain.executions.events import EVENT_TYPES
from zoe_lib.domain.executions.execution import Execution
from zoe_simulator.history_replay.outcome import Decision, Happened, Outcome, decisions, outcome
from zoe_simulator.history_replay.recording import Recording, to_event
from zoe_simulator.history_replay.rerun import Change, Rerun

# Points of each line that are kept.
_POINTS_MAX = 1000


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Numbers of recorded and of repeated decisions, and the first difference."""

    decisions: int
    reproduced: int
    first_difference: str


def answer(recording: Recording, change: Change | None) -> tuple[dict[str, Any], dict[str, Outcome]]:
    """Return figures and their basis for the replay as recorded, which must repeat the recorded decisions, and with the
    change. Both are of replays, so that the change alone makes the difference.
    """
    before = [(_id(entry.execution_id), to_event(entry)) for entry in recording.before]
    happened = [
        (_id(entry.execution_id), to_event(entry))
        for moment in recording.moments
        for entry in (*moment.news, *moment.wrote)
        if entry.execution_id is not None and entry.kind in EVENT_TYPES
    ]
    as_it_was = Rerun(recording)
    again = list(as_it_was.run())
    sides = {"as it was": _outcome(recording, as_it_was, [*before, *again], ())}
    if change is not None:
        rerun = Rerun(recording, change)
        changed = list(rerun.run())
        sides["changed"] = _outcome(recording, rerun, [*before, *changed], change.nodes)
    test = _self_test(*(decisions(events, recording.from_s, recording.to_s) for events in (happened, again)))
    result = {
        "from_s": recording.from_s,
        "to_s": recording.to_s,
        "ticks": len(recording.moments),
        "decisions": test.decisions,
        "reproduced": test.reproduced,
        "first_difference": test.first_difference,
        "figures": {name: side.figures for name, side in sides.items()},
        "series": {
            name: [{"at_s": at_s, "waiting": waiting, "cores": cores} for at_s, waiting, cores in thin_points(side)]
            for name, side in sides.items()
        },
    }
    return result, sides


def thin_points(side: Outcome) -> Sequence[tuple[float, int, float]]:
    """Return as many points of a line as a picture needs."""
    step = max(len(side.series) // _POINTS_MAX, 1)
    return side.series[::step]


def _outcome(recording: Recording, rerun: Rerun, events: Sequence[Happened], added: Sequence[Any]) -> Outcome:
    executions: dict[str, Execution] = {**rerun.executions, **recording.fresh}
    nodes = [*(recording.moments[-1].inputs if recording.moments else recording.inputs).nodes.values(), *added]
    cores = sum(node.total.cores_milli for node in nodes) / 1000
    return outcome(executions, events, recording.from_s, recording.to_s, cores)


def _self_test(was: Sequence[Decision], again: Sequence[Decision]) -> SelfTest:
    same = len(set(was) & set(again))
    if was == again:
        return SelfTest(len(was), same, "")
    for decision, other in zip([*was, None], [*again, None], strict=False):
        if decision != other:
            return SelfTest(len(was), same, f"it was {_words(decision)}, the replay has {_words(other)}")
    return SelfTest(len(was), same, "one has more decisions than the other")


def _words(decision: Decision | None) -> str:
    if decision is None:
        return "nothing more"
    places = ", ".join(f"{service} on {node}" if node else service for service, node in decision.places)
    return f"{decision.what} of {decision.execution_id} at {decision.at_s:.3f} s ({places})"


def _id(execution_id: str | None) -> str:
    assert execution_id is not None
    return execution_id
