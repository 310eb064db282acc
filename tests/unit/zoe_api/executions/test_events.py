"""Streams of events: begin, end, and shared texts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.plain_api import operator, person, run
from zoe_api.executions import events
from zoe_api.services.recent_journal import RecentJournal
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.store.values import JournalEntry


def entry(number: int, kind: str = "queued", execution_id: str | None = "e", **data: Any) -> JournalEntry:
    return JournalEntry(number, kind, 5.0, "c", data, execution_id, "iostack", 1)


@pytest.mark.parametrize(
    ("kinds", "over"),
    [
        (["queued"], False),
        (["queued", "ended"], True),
        (["refused"], True),
        (["ended", "storage_transferred"], True),
        (["array_ended"], True),
        (["array_ended", "array_requeued"], False),
        (["array_requeued", "array_ended"], True),
    ],
)
def test_an_execution_ends_once_and_an_array_may_run_again(kinds: list[str], over: bool) -> None:
    assert events._is_over([entry(n, kind) for n, kind in enumerate(kinds, 1)]) is over


def streamed(batches: list[Any], execution_id: str | None, over: bool, principal: Any = None) -> list[list[bytes]]:
    class News:
        recent = RecentJournal()

        def follow(self, *given: Any) -> Any:
            assert given == (3, ALL, execution_id)

            async def go() -> Any:
                for batch in batches:
                    yield batch

            return go()

    async def all_of() -> list[list[bytes]]:
        news: Any = News()
        return [b async for b in events._encode_batches(news, 3, ALL, execution_id, over, principal or person())]

    found: list[list[bytes]] = run(all_of())
    return found


def test_a_stream_of_one_execution_ends_with_it() -> None:
    sent = streamed([[entry(4)], [], [entry(5, "ended")], [entry(6)]], "e", over=False)
    assert [len(batch) for batch in sent] == [1, 0, 1, 1]
    assert sent[-1] == [b"id: 5\nevent: end\ndata: {}\n\n"]
    assert sent[0][0].startswith(b"id: 4\nevent: queued\ndata: {")


def test_one_that_had_ended_before_ends_after_an_empty_batch() -> None:
    assert streamed([[]], "e", over=True) == [[], [b"id: 3\nevent: end\ndata: {}\n\n"]]
    assert streamed([None, []], "e", over=True)[-1] == [b"id: 3\nevent: end\ndata: {}\n\n"]
    assert streamed([[], []], "e", over=False) == [[], []]


def test_a_stream_of_all_never_ends() -> None:
    assert len(streamed([[entry(4, "ended")], []], None, over=True)) == 2


def test_texts_are_shared_but_not_between_tenants_and_operators() -> None:
    news: Any = SimpleNamespace(recent=RecentJournal())
    news.recent.begin(0)
    secret = entry(4, detail="10.0.0.1")
    assert b"10.0.0.1" in events._text(news, secret, operator())
    assert b"10.0.0.1" not in events._text(news, secret, person())
    assert len(news.recent._texts) == 2
    events._text(news, entry(5, "policy_set", None), person())
    assert len(news.recent._texts) == 2
