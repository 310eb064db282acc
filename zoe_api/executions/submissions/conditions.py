"""Conditions of submissions, checked against the executions visible to their user."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from zoe_api.access.visibility import visible_array
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller
from zoe_client.vocabulary import DependencyKind, Holder
from zoe_client.wire import Diagnostic, SubmitRequest
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency
from zoe_lib.store.values import ExecutionQuery

_IN_BATCH = "#"


def conditions_of(
    bodies: Sequence[SubmitRequest], ids: Sequence[str], caller: Caller, batch: bool = False
) -> list[Conditions]:
    """Return the conditions of each of these submissions, which get these ids. 422 if a dependency does not exist, is
    not visible to the user, or does not come earlier in its batch.
    """
    named = {on for body in bodies for _, on in map(_split, body.after) if not on.startswith(_IN_BATCH)}
    known = _visible(named, caller)
    errors = [error for index, body in enumerate(bodies) for error in _errors(body, index, known, batch)]
    if errors:
        raise ApiProblem(Code.INVALID_REQUEST, errors[0].message, errors=errors)
    return [_conditions(body, ids, clock=caller.services.clock) for body in bodies]


def _errors(body: SubmitRequest, index: int, known: Collection[str], batch: bool) -> Iterator[Diagnostic]:
    for place, text in enumerate(body.after):
        _, on = _split(text)
        if not on.startswith(_IN_BATCH):
            why = "" if on in known else f"execution {on} does not exist, or you may not see it"
        elif not batch:
            why = f"{on}: only a batch has executions with numbers"
        else:
            why = "" if int(on[1:]) < index else f"{on}: it must come before this one in the batch"
        if why:
            pointer = f"/executions/{index}/after/{place}" if batch else f"/after/{place}"
            yield Diagnostic(pointer=pointer, code="unknown", message=why)


def _conditions(body: SubmitRequest, ids: Sequence[str], clock: Clock = SYSTEM_CLOCK) -> Conditions:
    after = {text: _split(text) for text in body.after}
    found = Conditions(
        held=Holder.USER if body.hold else None,
        begin_at_s=body.begin_at_s if body.begin_in_s is None else clock.now_s() + body.begin_in_s,
        after=tuple(Dependency(DependencyKind(kind), _id(on, ids)) for kind, on in after.values()),
        keep=body.keep,
    )
    return found if found.held or found.after or found.begin_at_s is not None else NO_CONDITIONS


def _split(text: str) -> tuple[str, str]:
    kind, _, on = text.partition(":")
    return kind, on


def _id(on: str, ids: Sequence[str]) -> str:
    return ids[int(on[1:])] if on.startswith(_IN_BATCH) else on


def _visible(ids: Collection[str], caller: Caller) -> Collection[str]:
    if caller.principal.job is not None:
        ids = caller.services.accounts.job_family_among(caller.principal.job.unit, ids)
    if not ids:
        return ()
    query = ExecutionQuery(ids=frozenset(ids), visibility=caller.principal.visibility, limit=len(ids))
    found = {execution.id for execution in caller.store.executions(query).executions}
    return found | {text for text in set(ids) - found if visible_array(text, caller) is not None}
