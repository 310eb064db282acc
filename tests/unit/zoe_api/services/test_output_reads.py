"""Followers of one service share reads, and none misses output before the end."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from zoe_api.services.output_reads import Outcome, OutputReads, Piece
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable

T = TypeVar("T")


class Master:
    """Answers from a growing output, like the master, and counts the requests."""

    def __init__(self, output: bytes = b"", complete: bool = False) -> None:
        self.output, self.complete = output, complete
        self.questions: list[tuple[str, int]] = []
        self.askers: Counter[str] = Counter()
        self.refusal: Exception | None = None
        self.before_answer: Callable[[], object] = lambda: None
        self._lock = threading.Lock()

    def ask(self, kind: str, body: dict[str, Any], asker: str = "") -> dict[str, Any]:
        assert kind == "logs"
        with self._lock:
            self.questions.append((body["service_id"], body["offset"]))
            self.askers[asker] += 1
            offset = body["offset"]
            data = self.output[offset : offset + body["limit"]]
        self.before_answer()
        if self.refusal is not None:
            raise self.refusal
        end = offset + len(data)
        return {
            "data": base64.b64encode(data).decode(),
            "offset": offset,
            "next_offset": end,
            "complete": self.complete and end == len(self.output),
            "dropped_bytes": 0,
        }


def run(work: Callable[[OutputReads], Coroutine[Any, Any, T]], master: Master) -> T:
    async def main() -> T:
        reads = OutputReads(master.ask)
        try:
            return await asyncio.wait_for(work(reads), 30)
        finally:
            reads.close()

    return asyncio.run(main())


def test_a_hundred_followers_ask_one_question() -> None:
    master = Master(b"x" * 200_000)

    async def all_of_it(reads: OutputReads) -> int:
        offset = 0
        while True:
            piece = await reads.read("red/ada", "e.s", offset, 0.0, fresh=False)
            assert isinstance(piece, Piece)
            if piece.empty:
                return offset
            offset = piece.next_offset

    async def followers(reads: OutputReads) -> list[int]:
        return await asyncio.gather(*(all_of_it(reads) for _ in range(100)))

    assert run(followers, master) == [200_000] * 100
    assert len(master.questions) == len(set(master.questions)) == 5


def test_follower_behind_gets_the_earlier_read() -> None:
    master = Master(b"x" * 100_000)

    async def twice(reads: OutputReads) -> list[Outcome]:
        return [await reads.read("red/ada", "e.s", 0, 0.0, fresh=False) for _ in range(2)]

    first, second = run(twice, master)
    assert first is second
    assert len(master.questions) == 1


def test_news_ends_a_pause_for_all_followers_and_a_follower_without_news_shares_the_read() -> None:
    master = Master(b"a line")

    async def soon(reads: OutputReads) -> list[Outcome]:
        news = asyncio.Event()
        patient = asyncio.create_task(reads.read("red/ada", "e.s", 0, 3600.0, fresh=False))
        waiting = asyncio.create_task(reads.read("red/ada", "e.s", 0, 3600.0, fresh=False, soon=news))
        await asyncio.sleep(0)
        news.set()
        return [await patient, await waiting]

    first, second = run(soon, master)
    assert first is second
    assert len(master.questions) == 1


def test_kept_output_is_bounded() -> None:
    master = Master(b"x" * 20_000_000)

    async def all_of_it(reads: OutputReads) -> int:
        offset = 0
        while offset < len(master.output):
            piece = await reads.read("red/ada", "e.s", offset, 0.0, fresh=False)
            assert isinstance(piece, Piece)
            offset = piece.next_offset
        return sum(len(piece.text) for piece in reads._kept.values())

    assert 0 < run(all_of_it, master) <= 4 << 20


def test_after_the_end_is_known_an_older_empty_read_does_not_count() -> None:
    """The read had begun before the last line was printed, and is answered after the end."""
    master = Master()
    asked, printed = threading.Event(), threading.Event()

    def wait_for_the_last_line() -> None:
        asked.set()
        assert printed.wait(30)

    async def last(reads: OutputReads) -> Outcome:
        master.before_answer = wait_for_the_last_line
        earlier = asyncio.create_task(reads.read("red/ada", "e.s", 0, 0.0, fresh=False))
        await asyncio.to_thread(asked.wait, 30)
        master.output = b"last line"
        later = asyncio.create_task(reads.read("red/ada", "e.s", 0, 0.0, fresh=True))
        await asyncio.sleep(0)
        printed.set()
        first = await earlier
        assert isinstance(first, Piece)
        assert first.empty
        return await later

    piece = run(last, master)
    assert isinstance(piece, Piece)
    assert piece.next_offset == len("last line")


def test_one_owner_never_has_all_threads() -> None:
    """Of fifty followed services on an engine that hangs, four wait for it; others are read meanwhile."""
    master = Master(b"hello")
    begun, let_go = threading.Semaphore(0), threading.Event()
    ask = master.ask

    def hung(kind: str, body: dict[str, Any], asker: str = "") -> dict[str, Any]:
        if body["service_id"].startswith("hung"):
            begun.release()
            let_go.wait(30)
        return ask(kind, body, asker)

    master.ask = hung  # type: ignore[method-assign]

    async def other(reads: OutputReads) -> Outcome:
        hanging = [asyncio.create_task(reads.read("red/ada", f"hung{n}", 0, 0.0, fresh=False)) for n in range(50)]
        try:
            for _ in range(4):
                assert await asyncio.to_thread(begun.acquire, timeout=30)
            return await asyncio.wait_for(reads.read("blue/bob", "e.s", 0, 0.0, fresh=False), 10)
        finally:
            let_go.set()
            await asyncio.gather(*hanging)

    piece = run(other, master)
    assert isinstance(piece, Piece)
    assert not piece.empty
    assert master.askers == {"followers of red/ada": 50, "followers of blue/bob": 1}


def test_a_refusal_and_no_answer_reach_all_followers() -> None:
    for error in (MasterRefused("no_logs", "not started"), MasterUnreachable("away")):
        master = Master()
        master.refusal = error

        async def followers(reads: OutputReads) -> list[Outcome]:
            return await asyncio.gather(*(reads.read("red/ada", "e.s", 0, 0.0, fresh=False) for _ in range(3)))

        assert run(followers, master) == [error] * 3
        assert len(master.questions) == 1


def test_a_follower_that_leaves_takes_nothing_from_the_others() -> None:
    master = Master(b"hello")

    async def left(reads: OutputReads) -> Outcome:
        leaving = asyncio.create_task(reads.read("red/ada", "e.s", 0, 0.05, fresh=False))
        staying = asyncio.create_task(reads.read("red/ada", "e.s", 0, 0.05, fresh=False))
        await asyncio.sleep(0)
        leaving.cancel()
        return await staying

    assert isinstance(run(left, master), Piece)
    assert len(master.questions) == 1
