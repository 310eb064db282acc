"""Texts of rules: a trial reads so many steps, and says where it was cut."""

from __future__ import annotations

import pytest

from storage_controller.answers import RequestRefusedError
from storage_controller.rules.adding import TRIAL_STEPS_MAX, parse_text

RULE = "FOR TENANT acme WHEN OBJECT_SIZE>1 AND OBJECT_SIZE<9 DO SET COMPRESSION, SET ENCRYPTION\n"
STEPS = 5
"""The rule, two actions and two comparisons."""


def test_a_trial_is_cut_after_its_steps_and_says_in_which_rule() -> None:
    assert len(parse_text(RULE.encode() * 3, None, steps_max=3 * STEPS)) == 3
    with pytest.raises(RequestRefusedError) as refused:
        parse_text(RULE.encode() * 9, None, steps_max=3 * STEPS)
    assert "cut after 15 steps" in str(refused.value)
    assert "in rule 4: try fewer rules at once" in str(refused.value)


def test_added_rules_are_bounded_by_their_text_alone() -> None:
    assert len(parse_text(RULE.encode() * (TRIAL_STEPS_MAX // STEPS + 1), None)) == TRIAL_STEPS_MAX // STEPS + 1
