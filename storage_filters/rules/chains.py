"""Select the filters of an object: `rules + request -> chain`, with the reason why each action applies or not. Pure.

Among the rules with a matching target and condition:

- The most specific target wins per kind of filter: object, container, tenant. A group ranks as the member that matches.
- A mandatory action overrides the others of its kind, and no action overrides it. BANDWIDTH is never overridden.
- A rule with REPLACES ALL overrides all actions of less specific targets, except the above.
- DELETE is an action of its kind like SET. Among equal targets, it cancels the actions of earlier rules.

Filters run at PUT in this order: those of the most specific target first, then in the order of rules and of their
actions; those ON OBJECT after all others.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from storage_filters.rules.displacing import Candidate, Overrides
from storage_filters.rules.documents import RuleBook, complete_object
from storage_filters.rules.rules import (
    BANDWIDTH,
    CACHING,
    OBJECT_SIZE,
    OBJECT_TAG,
    OBJECT_TYPE,
    Action,
    AllOf,
    Comparison,
    Condition,
    Operator,
    Rule,
    Target,
    TargetKind,
    number_of,
)
from storage_filters.wsgi.object_requests import ObjectRequest

_COMPARE = {
    Operator.GREATER: operator.gt,
    Operator.LESS: operator.lt,
    Operator.AT_LEAST: operator.ge,
    Operator.AT_MOST: operator.le,
    Operator.EQUAL: operator.eq,
    Operator.UNEQUAL: operator.ne,
}


class Outcome(StrEnum):
    """Result for an action."""

    APPLIES = "applies"
    DISPLACED = "displaced"
    CONDITION = "condition"
    DELETES = "deletes"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result for an action of a rule with a matching target, and a sentence with the reason."""

    rule: Rule
    action: Action
    outcome: Outcome
    sentence: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Verdicts of all actions; the ones that apply come first, in the order in which they run at PUT."""

    verdicts: tuple[Verdict, ...]

    @property
    def steps(self) -> tuple[Verdict, ...]:
        """Return the actions that apply and filter objects, in the order in which they run at PUT."""
        others = (BANDWIDTH, CACHING)
        return tuple(v for v in self.verdicts if v.outcome is Outcome.APPLIES and v.action.kind not in others)

    @property
    def is_cached(self) -> bool:
        """Return whether the object is cached when it is read."""
        return any(v.outcome is Outcome.APPLIES and v.action.kind == CACHING for v in self.verdicts)


def chain_of(book: RuleBook, request: ObjectRequest) -> Chain:
    """Return the chain of a request, with the reason why each action of a matching target applies or not."""
    candidates: list[Candidate] = []
    idle: list[Verdict] = []
    for number, rule in book.rules_for(request.tenant, request.container, request.object):
        rank = rank_of(rule.target, request, book.groups)
        metrics = book.metrics.get(rule.id, {})
        for place, action in enumerate(rule.actions):
            why_not = _unmet(rule.condition, request, book, metrics) or _unmet_only(action, request, book)
            if why_not is None:
                candidates.append(Candidate(rule, action, rank, (number, place)))
            else:
                idle.append(Verdict(rule, action, Outcome.CONDITION, why_not))
    displacing = Overrides(candidates)
    decided = [_verdict(candidate, displacing) for candidate in sorted(candidates, key=_order)]
    applying = [verdict for verdict in decided if verdict.outcome is Outcome.APPLIES]
    return Chain((*applying, *(verdict for verdict in decided if verdict.outcome is not Outcome.APPLIES), *idle))


def rank_of(target: Target, request: ObjectRequest, groups: Mapping[str, frozenset[str]]) -> int:
    """Return how specific a target is for a request that it matches."""
    if target.kind is not TargetKind.GROUP:
        return target.rank
    containers = request.container, complete_object(request.container, request.object)[0]
    return 2 if {f"{request.tenant}/{container}" for container in containers} & groups[target.tenant] else 1


def _order(one: Candidate) -> tuple[bool, int, tuple[int, int]]:
    return one.action.server == "OBJECT", -one.rank, one.place


def _verdict(one: Candidate, displacing: Overrides) -> Verdict:
    if (found := displacing.override_of(one)) is not None:
        other, reason = found
        return Verdict(one.rule, one.action, Outcome.DISPLACED, f"{_source(other.rule)} {reason}")
    if one.action.verb == "DELETE":
        return Verdict(one.rule, one.action, Outcome.DELETES, f"no {one.action.kind} by less specific rules")
    return Verdict(one.rule, one.action, Outcome.APPLIES, f"{_source(one.rule)} sets it")


def _source(rule: Rule) -> str:
    return f"rule {rule.id} for {rule.target}" if rule.id else f"the tried rule for {rule.target}"


def _unmet(
    condition: Condition | None, request: ObjectRequest, book: RuleBook, metrics: Mapping[str, float]
) -> str | None:
    """Return why a condition does not hold; None if it does."""
    if condition is None:
        return None
    if isinstance(condition, Comparison):
        return _unmet_term(condition, request, book, metrics)
    unmet = [_unmet(part, request, book, metrics) for part in condition.parts]
    if isinstance(condition, AllOf):
        return next((reason for reason in unmet if reason is not None), None)
    return None if None in unmet else "; ".join(reason for reason in unmet if reason is not None)


def _unmet_only(action: Action, request: ObjectRequest, book: RuleBook) -> str | None:
    return next((why for term in action.only if (why := _unmet(term, request, book, {})) is not None), None)


def _unmet_term(term: Comparison, request: ObjectRequest, book: RuleBook, metrics: Mapping[str, float]) -> str | None:
    name = term.name.upper()
    if name in (OBJECT_TYPE, OBJECT_TAG):
        there = _has_type(term.value, request, book) if name == OBJECT_TYPE else term.value in request.tags
        wanted = term.operator is Operator.EQUAL
        return None if there is wanted else f"{_comparison_text(term)}: the object is {'' if there else 'not '}of it"
    value = request.size if name == OBJECT_SIZE else metrics.get(name)
    if value is None:
        return f"{_comparison_text(term)}: not known"
    return None if compare(term, value) else f"{_comparison_text(term)}: it is {value:g}"


def compare(term: Comparison, value: float | None) -> bool:
    """Return whether a comparison with a number holds; False if the value is unknown."""
    bound = number_of(term.value)
    return value is not None and bound is not None and bool(_COMPARE[term.operator](value, bound))


def _has_type(name: str, request: ObjectRequest, book: RuleBook) -> bool:
    named = complete_object(request.container, request.object)[1]
    return PurePosixPath(named).suffix.lower().removeprefix(".") in book.types.get(name.upper(), frozenset())


def _comparison_text(term: Comparison) -> str:
    return f"{term.name} {term.operator} {term.value}"
