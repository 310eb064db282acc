"""A stream misses nothing between the journal itself and what the process has read of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from tests.support.applications import execution
from zoe_api.journal_news import JournalNews
from zoe_lib.domain import events as ev
from zoe_lib.domain.execution import Cause, Outcome
from zoe_lib.store.base import JournalEntry
from zoe_lib.store.memory import MemoryStore


def test_the_first_batch_has_what_the_reader_of_the_process_has_not_seen_yet() -> None:
    """An execution that had ended before the first look: an empty first batch would end its stream too early."""
    store = MemoryStore()
    refused = ev.Refused(at_s=2.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    store.append(store.submit(execution(1), "request").id, [refused], 1, None)

    async def first() -> Sequence[JournalEntry] | None:
        news = JournalNews(store, poll_s=60.0)
        news.recent.begin(0)
        async with aclosing(news.follow(0, None, execution(1).id)) as batches:
            return await anext(batches)

    assert [entry.kind for entry in asyncio.run(first()) or ()] == ["submitted", "refused"]


def test_facts_of_the_installation_reach_a_tenant_and_no_execution() -> None:
    store = MemoryStore()

    async def kinds(tenant: str | None, execution_id: str | None) -> list[str]:
        news = JournalNews(store, poll_s=60.0)
        news.recent.begin(0)
        async with aclosing(news.follow(99, tenant, execution_id)) as batches:
            assert await anext(batches) == []
            news.recent.begin(99)
            news.recent.add([JournalEntry(100, "policy_set", 0.0, "", {}), *_of(101, "red"), *_of(102, "blue")])
            for watch in news._watches:
                watch.news.set()
            return [str(entry.kind) for entry in await anext(batches) or ()]

    assert asyncio.run(kinds("red", None)) == ["policy_set", "red"]
    assert asyncio.run(kinds(None, None)) == ["policy_set", "red", "blue"]
    assert asyncio.run(kinds(None, "of blue")) == ["blue"]


def _of(number: int, tenant: str) -> list[JournalEntry]:
    return [JournalEntry(number, tenant, 0.0, "", {}, f"of {tenant}", tenant, 1)]
