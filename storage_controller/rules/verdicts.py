"""Explain the effect of rules on an object, with reasons, and where each filter would run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from storage_controller.rules.dsl import show_rule
from storage_filters.filter_host.records import STEPS_MAX
from storage_filters.rules.chains import Chain, Outcome, Verdict, chain_of
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.placing import AT_OBJECT_SERVERS, MoveReason, place_filters, place_text
from storage_filters.rules.rules import Rule
from storage_filters.wsgi.object_requests import ObjectRequest
from zoe_client.wire.storage.rules import StorageChainView, StorageVerdictView

Idle = Callable[[Rule], Sequence[str]]
"""Returns the filters of a rule that proxies do not have."""


def verdicts_on(book: RuleBook, request: ObjectRequest, idle: Idle, hosted: Collection[str]) -> StorageChainView:
    """Return the filters that run when an object is stored, in their order, and the verdicts of all actions. hosted:
    filters of all proxies.
    """
    chain = chain_of(book, request)
    steps = _running(chain, idle)
    verdicts = [_verdict(verdict, idle) for verdict in chain.verdicts]
    none = None if AT_OBJECT_SERVERS in hosted else MoveReason.NO_SERVERS
    places = {
        id(filter_.verdict): place_text(filter_)
        for filter_ in place_filters(steps, none)
        if filter_.verdict.action.server == "OBJECT"
    }
    for verdict, view in zip(chain.verdicts, verdicts, strict=True):
        if id(verdict) in places:
            view.sentence += f"; it runs {places[id(verdict)]}"
        if len(steps) > STEPS_MAX and view.outcome == str(Outcome.APPLIES):
            view.sentence += f"; it is one of {len(steps)}, and at most {STEPS_MAX} run: a PUT is refused"
    return StorageChainView(filters=[step.action.kind for step in steps], verdicts=verdicts)


def _running(chain: Chain, idle: Idle) -> list[Verdict]:
    return [step for step in chain.steps if step.action.filter not in idle(step.rule)]


def _verdict(one: Verdict, idle: Idle) -> StorageVerdictView:
    outcome, sentence = str(one.outcome), one.sentence
    if one.outcome is Outcome.APPLIES and one.action.filter in idle(one.rule):
        outcome, sentence = "missing", "it would apply, but proxies do not have this filter"
    return StorageVerdictView(
        rule=one.rule.id, text=show_rule(one.rule), filter=one.action.kind, outcome=outcome, sentence=sentence
    )
