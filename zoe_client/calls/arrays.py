"""Arrays: submit, follow and change them as a whole."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from zoe_client import wire
from zoe_client.errors import TimedOut
from zoe_client.http.flow import answer_to
from zoe_client.http.transport import path_part
from zoe_client.vocabulary import IndexState
from zoe_client.words.promises import finish_time, with_promise_request, with_run_time
from zoe_client.words.times import sent_deadline

if TYPE_CHECKING:
    from zoe_client.http.transport import Transport

_LOOK_EVERY_S, _LOOK_EVERY_S_MAX = 0.1, 2.0
_PAGE, _PAGE_OF_BRIEF = 500, 10_000


class Arrays:
    """Arrays of one Zoe: `client.arrays`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def submit(
        self,
        application: dict[str, Any],
        indices: str,
        *,
        name: str | None = None,
        priority: int | None = None,
        deadline_s: float | None = None,
        deadline: str | None = None,
        hold: bool = False,
        begin_at_s: float | None = None,
        begin_in_s: float | None = None,
        after: Sequence[str] = (),
        keep: bool = False,
        idempotency_key: str | None = None,
        finish_by: str | None = None,
        confidence: float | None = None,
        budget: float | None = None,
        run_time_s: float | None = None,
    ) -> wire.ArraySummary:
        """Submit an application that runs once for each of the indices, such as `0-999%50`; the same idempotency key
        returns the same array.

        `after` and the other options are as for an execution; `corr:ARRAY`: each index runs after the same index of
        that array. `finish_by`: run it if Zoe promises that all indices end by then; see `promise` of the array.
        `confidence`: of the promise, 0.9 by default; `budget`: maximum cost of the whole array. `run_time_s`: expected
        run time of one index.
        """
        deadline = finish_time(finish_by, deadline, confidence, budget)
        application = with_run_time(application, run_time_s)
        body = wire.ArrayRequest(
            application=application if finish_by is None else with_promise_request(application, confidence, budget),
            indices=indices,
            name=name,
            priority=priority,
            deadline_s=deadline_s,
            deadline=None if deadline is None else sent_deadline(deadline, time.time()),
            hold=hold,
            begin_at_s=begin_at_s,
            begin_in_s=begin_in_s,
            after=list(after),
            keep=keep,
        )
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        return self._transport.call(wire.ArraySummary, "POST", "/arrays", body=body, headers=headers, again=True)

    def plan(
        self,
        application: dict[str, Any],
        indices: str,
        *,
        finish_by: str,
        confidence: float | None = None,
        budget: float | None = None,
        priority: int | None = None,
        run_time_s: float | None = None,
    ) -> wire.PromisePlan:
        """Return the promise, or the offers, that an array would get if it were submitted now; nothing is stored."""
        deadline = finish_time(finish_by, None, confidence, budget)
        body = wire.ArrayRequest(
            application=with_promise_request(with_run_time(application, run_time_s), confidence, budget),
            indices=indices,
            priority=priority,
            deadline=None if deadline is None else sent_deadline(deadline, time.time()),
        )
        return self._transport.call(wire.PromisePlan, "POST", "/arrays:plan", body=body, again=True)

    def array(self, array_id: str) -> wire.ArrayView:
        """Return one array with its indices by state."""
        return self._transport.call(wire.ArrayView, "GET", f"/arrays/{path_part(array_id)}")

    def list(
        self, *, open_only: bool = False, all_tenants: bool = False, limit: int = 50, cursor: str | None = None
    ) -> wire.ArrayList:
        """Return one page of arrays, newest first; `open_only`: those with indices that have not ended."""
        parameters = {
            "open": open_only or None,
            "all_tenants": all_tenants or None,
            "limit": limit,
            "cursor": cursor,
        }
        return self._transport.call(wire.ArrayList, "GET", "/arrays", parameters=parameters)

    def indices(
        self, array_id: str, states: Sequence[IndexState] = (), *, brief: bool = False
    ) -> Iterator[wire.IndexView]:
        """Yield the indices in these states, or all, in order; `brief`: without their executions, which is faster."""
        return self._transport.flow.iterate(_IndexPages(self._transport, array_id, states, brief).more)

    def accept(self, array_id: str, offer: int = 1) -> wire.ArrayView:
        """Accept an offer for all indices of an array that cannot be promised as requested."""
        path, body = f"/arrays/{path_part(array_id)}/accept", wire.AcceptRequest(offer=offer)
        return self._transport.call(wire.ArrayView, "POST", path, body=body, again=True)

    def cancel(self, array_id: str, indices: str | None = None) -> wire.ArraySummary:
        """Cancel all unfinished indices, or the given ones, such as `3-5,9`."""
        named = None if indices is None else {"indices": indices}
        return self._transport.call(
            wire.ArraySummary, "POST", f"/arrays/{path_part(array_id)}/cancel", parameters=named, again=True
        )

    def hold(self, array_id: str) -> wire.ArraySummary:
        """Keep all waiting indices out of the queue."""
        return _act(self._transport, array_id, "hold")

    def release(self, array_id: str) -> wire.ArraySummary:
        """Let the indices of a held array into the queue."""
        return _act(self._transport, array_id, "release")

    def requeue(self, array_id: str) -> wire.ArraySummary:
        """Run failed and cancelled indices again."""
        return _act(self._transport, array_id, "requeue")

    def modify(self, array_id: str, changes: wire.ArrayModifyRequest) -> wire.ArraySummary:
        """Change how many indices may be active at once, and priority, deadline and time limit of waiting indices;
        fields that are not set keep their values.
        """
        json = changes.model_dump(mode="json", exclude_unset=True)
        return self._transport.call(wire.ArraySummary, "PATCH", f"/arrays/{path_part(array_id)}", json=json, again=True)

    def wait(self, array_id: str, timeout_s: float | None = None) -> wire.ArrayView:
        """Return the array after all its indices have ended; TimedOut."""
        return self._transport.flow.perform(_wait(self._transport, array_id, timeout_s))


def _act(transport: Transport, array_id: str, action: str) -> wire.ArraySummary:
    return transport.call(wire.ArraySummary, "POST", f"/arrays/{path_part(array_id)}/{action}", again=True)


async def _wait(transport: Transport, array_id: str, timeout_s: float | None) -> wire.ArrayView:
    give_up_s = None if timeout_s is None else time.monotonic() + timeout_s
    pause_s = _LOOK_EVERY_S
    while (array := await answer_to(Arrays(transport).array(array_id))).ended_at_s is None:
        if give_up_s is not None and time.monotonic() >= give_up_s:
            raise TimedOut(f"array {array_id} has not ended within {timeout_s:g} s")
        await answer_to(transport.flow.pause(pause_s))
        pause_s = min(2 * pause_s, _LOOK_EVERY_S_MAX)
    return array


class _IndexPages:
    """Pages of an array's indices, in order."""

    def __init__(self, transport: Transport, array_id: str, states: Sequence[IndexState], brief: bool) -> None:
        self._transport = transport
        self._path = f"/arrays/{path_part(array_id)}/indices"
        self._parameters = {
            "state": [state.value for state in states],
            "brief": brief or None,
            "limit": _PAGE_OF_BRIEF if brief else _PAGE,
        }
        self._after: int | None = None
        self._ended = False

    async def more(self) -> list[wire.IndexView] | None:
        """Return the next page; None after the last."""
        if self._ended:
            return None
        parameters = self._parameters | {"after": self._after}
        page = await answer_to(self._transport.call(wire.IndexList, "GET", self._path, parameters=parameters))
        self._after, self._ended = page.next_after, page.next_after is None
        return page.indices
