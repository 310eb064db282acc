"""Notes of `zoe run` on a deadline at risk."""

from __future__ import annotations

import time

import pytest

from zoe_cli.commands.running.submitting import Conditions, _outlook_words
from zoe_client.vocabulary import DeadlineOutlook
from zoe_client.wire import DeadlineOutlookView


def found(outlook: DeadlineOutlook) -> DeadlineOutlookView:
    values = dict.fromkeys(("end_p50_s", "end_p90_s", "run_s"))
    return DeadlineOutlookView(
        at_s=time.time() + 600, text="noon", outlook=outlook, sentence=f"It is {outlook}.", **values
    )


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        (Conditions(), "It is at_risk."),
        (Conditions(hold=True), "depends on when it may begin"),
        (Conditions(after=("ok:x",)), "depends on when it may begin"),
        (Conditions(begin="+9s"), "depends on when it may begin"),
        (Conditions(begin="+1h"), "noon cannot be met: it is not later than the begin time"),
        (Conditions(array="0-9"), "For one index: It is at_risk."),
    ],
)
def test_only_what_is_certain_is_said_of_what_begins_later(conditions: Conditions, words: str) -> None:
    assert words in _outlook_words(found(DeadlineOutlook.AT_RISK), conditions)
    certain = _outlook_words(found(DeadlineOutlook.CANNOT_BE_MET), conditions)
    assert certain == "It is cannot_be_met."
