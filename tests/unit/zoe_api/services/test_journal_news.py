"""A stream misses no entry between the journal itself and the entries that the process has read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from tests.support.applications import execution
from zoe_api.services.journal_news import JournalNews
from zoe_lib.domain.applications.sharing import ALL, ExecutionShares, ShareLevel, Visibility
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import JournalEntry


def test_the_first_batch_has_what_the_reader_of_the_process_has_not_seen_yet() -> None:
    """An execution that had ended before the first look: an empty first batch would end its stream too early."""
    store = MemoryStore()
    refused = ev.Refused(at_s=2.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    store.append(store.submit(execution(1), "request").id, [refused], 1, None)

    async def first() -> Sequence[JournalEntry] | None:
        news = JournalNews(store, poll_s=60.0)
        news.recent.begin(0)
        async with aclosing(news.follow(0, ALL, execution(1).id)) as batches:
            return await anext(batches)

    assert [entry.kind for entry in asyncio.run(first()) or ()] == ["submitted", "refused"]


SHARES = {
    "of red": ExecutionShares("red", "ada", {}),
    "of blue": ExecutionShares("blue", "eve", {"bob": ShareLevel.LOOK}),
}


def test_facts_of_the_installation_reach_a_tenant_and_no_execution() -> None:
    store = MemoryStore()

    async def kinds(visibility: Visibility, execution_id: str | None) -> list[str]:
        news = JournalNews(store, poll_s=60.0)
        news.recent.begin(0)
        async with aclosing(news.follow(99, visibility, execution_id)) as batches:
            assert await anext(batches) == []
            news.recent.begin(99)
            news.recent.add([JournalEntry(100, "policy_set", 0.0, "", {}), *_of(101, "red"), *_of(102, "blue")], SHARES)
            for watch in news._watches:
                watch.news.set()
            return [str(entry.kind) for entry in await anext(batches) or ()]

    assert asyncio.run(kinds(Visibility("red"), None)) == ["policy_set", "red"]
    assert asyncio.run(kinds(Visibility("red", "ada"), None)) == ["policy_set", "red"]
    assert asyncio.run(kinds(Visibility("red", "bob"), None)) == ["policy_set"]
    assert asyncio.run(kinds(Visibility("blue", "bob"), None)) == ["policy_set", "blue"]
    assert asyncio.run(kinds(ALL, None)) == ["policy_set", "red", "blue"]
    assert asyncio.run(kinds(ALL, "of blue")) == ["blue"]


class FailsOnce(MemoryStore):
    """Its journal fails once for the reader of the process, with an unexpected error."""

    failed = False

    def journal(
        self,
        after_id: int,
        limit: int,
        visibility: Visibility = ALL,
        execution_id: str | None = None,
        with_data: bool = True,
    ) -> Sequence[JournalEntry]:
        if visibility == ALL and not self.failed:
            self.failed = True
            raise RuntimeError("unexpected")
        return super().journal(after_id, limit, visibility, execution_id, with_data)


def test_the_reader_of_the_process_goes_on_after_an_error() -> None:
    store = FailsOnce()

    async def after_the_error() -> str | None:
        news = JournalNews(store, poll_s=0.05)
        news.open()
        try:
            async with asyncio.timeout(30), aclosing(news.follow(0, Visibility("iostack"), None)) as batches:
                assert await anext(batches) == []
                while not store.failed:
                    await asyncio.sleep(0.01)
                store.submit(execution(1), "request")
                async for entries in batches:
                    if entries:
                        return entries[0].kind
        finally:
            news.close()
        return None

    assert asyncio.run(after_the_error()) == "submitted"


def _of(number: int, tenant: str) -> list[JournalEntry]:
    return [JournalEntry(number, tenant, 0.0, "", {}, f"of {tenant}", tenant, 1)]


def test_without_followers_a_commit_does_not_wake_the_event_loop() -> None:
    store = MemoryStore()

    async def woken() -> tuple[int, int]:
        news, calls = JournalNews(store, poll_s=60.0), 0
        news.open()

        def count() -> None:
            nonlocal calls
            calls += 1

        vars(news._told)["set"] = count
        try:
            store.submit(execution(1), "request")
            await asyncio.sleep(0.01)
            alone = calls
            with news.watch(ALL, None):
                calls = 0
                store.submit(execution(2), "request")
                await asyncio.sleep(0.01)
                return alone, calls
        finally:
            news.close()

    assert asyncio.run(woken()) == (0, 1)
