"""Following the output of a service: sent events, waits, and the end."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import after, run, services
from tests.support.scheduling import started
from zoe_api.executions import log_tail
from zoe_api.executions.log_tail import LogTail, is_alive
from zoe_api.services.output_reads import Piece
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.frozen import changed
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.store.errors import NotFound

ONE = started(after(execution(1), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)), "n1", "n1", "n1", "n1")
SERVICE = ONE.services[0].id
ENDED = after(ONE, ev.ServiceEnded(at_s=3.0, service_id=SERVICE, cause="exited"))
EMPTY = Piece(0, False, True, False, b"")
MORE = Piece(5, False, False, True, b"more")
REST = Piece(9, False, False, False, b"rest")


def test_a_service_prints_as_long_as_it_and_its_execution_live() -> None:
    assert is_alive(ONE, SERVICE)
    assert not is_alive(ENDED, SERVICE)
    assert not is_alive(changed(ONE, state=ExecutionState.FAILED), SERVICE)
    with pytest.raises(NotFound):
        is_alive(ONE, "none")


class Tail:
    """A tail whose reads have these outcomes; before a read the store's execution may change."""

    def __init__(self, *outcomes: Any, ends_after: int | None = None) -> None:
        self.outcomes = list(outcomes)
        self.ends_after = ends_after
        self.asked: list[tuple[int, float, bool]] = []
        self.services = services(ONE)
        self.news = asyncio.Event()

    async def read(self, owner: str, service_id: str, offset: int, pause_s: float, fresh: bool, soon: Any) -> Any:
        assert (owner, service_id, soon) == ("iostack/ada", SERVICE, self.news)
        self.asked.append((offset, round(pause_s, 3), fresh))
        if self.ends_after == len(self.asked):
            self.services.store._state.put(ENDED)
            self.news.set()
        return self.outcomes.pop(0)

    @contextmanager
    def watch(self, *_: Any) -> Any:
        yield self.news

    def sent(self, offset: int = 0) -> list[list[bytes]]:
        news: Any = SimpleNamespace(watch=self.watch, threads=None)
        tail = LogTail(self.services.store, self, news, ONE, SERVICE)

        async def go() -> list[list[bytes]]:
            found = []
            async for batch in tail.follow(offset):
                found.append(batch)
                if not self.outcomes:
                    break
            return found

        result: list[list[bytes]] = run(go())
        return result


def kinds(batches: list[list[bytes]]) -> list[Any]:
    return [
        [event.partition(b"event: ")[2].partition(b"\n")[0].decode() or event.decode() for event in batch]
        for batch in batches
    ]


def test_pieces_are_sent_until_the_output_is_complete() -> None:
    tail = Tail(MORE, REST, changed_piece(complete=True))
    assert kinds(tail.sent(2)) == [["more"], ["rest"], ["end"]]
    assert [(offset, pause_s) for offset, pause_s, _ in tail.asked] == [(2, 0.0), (5, 0.0), (9, 0.1)]


def changed_piece(**changes: Any) -> Piece:
    return replace(EMPTY, next_offset=9, **changes)


def test_pauses_grow_to_a_second_while_there_is_nothing() -> None:
    tail = Tail(*[EMPTY] * 9)
    tail.sent()
    pauses = [pause_s for _, pause_s, _ in tail.asked]
    assert pauses == [0.0, 0.1, 0.15, 0.225, 0.338, 0.506, 0.759, 1.0, 1.0]


@pytest.mark.parametrize("why", [MasterRefused("no_logs", "not yet"), MasterUnreachable("away")])
def test_why_there_is_nothing_is_told_once(why: Exception) -> None:
    assert kinds(Tail(why, why, REST, why).sent()) == [["waiting"], [], ["rest"], ["waiting"]]


def test_after_the_end_of_the_service_the_rest_is_read_once_more() -> None:
    tail = Tail(EMPTY, REST, changed_piece(), ends_after=1)
    assert kinds(tail.sent()) == [[], ["rest"], ["end"]]
    assert [(pause_s, fresh) for _, pause_s, fresh in tail.asked] == [(0.0, False), (0.0, True), (0.1, True)]


def test_output_that_is_not_kept_ends_with_the_service_but_a_busy_master_is_asked_again() -> None:
    gone, busy = MasterRefused("no_logs", "gone"), MasterRefused("logs_busy", "busy")
    assert kinds(Tail(gone, busy, gone, ends_after=1).sent()) == [["waiting"], [], ["end"]]
    assert log_tail._events(EMPTY, False) == []
