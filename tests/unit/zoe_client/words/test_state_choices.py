"""One list of words for states, for all lists."""

from __future__ import annotations

import pytest

from zoe_client.vocabulary import ACTIVE_STATES, TERMINAL_STATES, ExecutionState
from zoe_client.words.state_choices import StateChoice, matches_state, states_of


def test_each_state_has_a_word_and_some_words_name_several() -> None:
    assert {state.value for state in ExecutionState} < {choice.value for choice in StateChoice}
    assert states_of(["active"]) == ACTIVE_STATES
    assert states_of(["ended", "running"]) == TERMINAL_STATES | {ExecutionState.RUNNING}
    assert states_of(["pending"]) == states_of(["waiting"]) == {ExecutionState.SUBMITTED, ExecutionState.QUEUED}
    assert states_of(["held"]) == frozenset()


@pytest.mark.parametrize(
    ("choices", "state", "held", "matches"),
    [
        (["held"], "submitted", True, True),
        (["held"], "submitted", False, False),
        (["held"], "cancelled", True, False),
        (["held", "running"], "running", False, True),
        (["waiting"], "queued", True, True),
        (["ended"], "running", False, False),
    ],
)
def test_held_are_those_of_the_waiting_that_are_on_hold(
    choices: list[str], state: str, held: bool, matches: bool
) -> None:
    assert matches_state(choices, state, held=held) is matches
