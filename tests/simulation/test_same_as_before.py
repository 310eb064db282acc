"""Decisions equal the recorded ones: plans, the journals of runs with faults, rows of the study."""

from __future__ import annotations

import pytest

from tests.support.same_as_before import RECORDED, recorded


@pytest.mark.parametrize("kind", RECORDED)
def test_decisions_are_those_that_were_recorded(kind: str) -> None:
    made, kept = RECORDED[kind](), recorded(kind)
    assert made.keys() == kept.keys()
    assert [name for name in kept if made[name] != kept[name]] == []
