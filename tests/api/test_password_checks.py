"""How many passwords are checked at a time, how many wait, and that all others are refused without a thread."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.waiting import until
from zoe_api.http.attempts.guess_limit import FAILURES_OF_PAIR_MAX, WITHIN_S, Brake, TooManyGuesses
from zoe_api.http.attempts.password_checks import AT_ONCE_MAX, INSIDE_MAX, OF_NETWORK_MAX, PasswordChecks
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in import passwords
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore

FLOOD = 300


class Held:
    """Checks that end when they are released; knows how many began, and in how many threads."""

    def __init__(self, accounts: AccountStore) -> None:
        self.accounts, self.checks = accounts, PasswordChecks()
        self.released = threading.Event()
        self.threads: list[str] = []

    def work(self) -> str:
        self.threads.append(threading.current_thread().name)
        assert self.released.wait(60)
        return "in"

    async def sign_in(self, brake: Brake) -> str:
        try:
            return await self.checks.run(brake, self.accounts, self.work)
        except ApiProblem as refusal:
            return refusal.problem.code

    async def flood(self, brake_of: Callable[[int], Brake]) -> Counter[str]:
        """Return all answers; nothing is released before all requests are inside or refused."""
        tasks = [asyncio.create_task(self.sign_in(brake_of(number))) for number in range(FLOOD)]
        async with asyncio.timeout(60):  # some look first whether they are familiar
            while sum(not task.done() for task in tasks) != self.checks.inside("local"):
                await asyncio.sleep(0.001)
        await asyncio.to_thread(until, lambda: len(self.threads) == AT_ONCE_MAX)
        self.released.set()
        return Counter(await asyncio.gather(*tasks))


@pytest.fixture
def held(store: PostgresStore) -> Held:
    return Held(store.accounts)


def test_a_flood_from_everywhere_takes_few_threads_and_few_places(held: Held) -> None:
    told = asyncio.run(held.flood(lambda number: Brake("local", "mia", f"10.0.{number}.1")))
    assert told == {"in": INSIDE_MAX, Code.SIGN_IN_BUSY: FLOOD - INSIDE_MAX}
    assert len(set(held.threads)) == AT_ONCE_MAX
    assert held.checks.inside("local") == 0
    held.checks.close()


def test_one_network_leaves_places_to_others(held: Held) -> None:
    told = asyncio.run(held.flood(lambda number: Brake("local", f"user-{number}", f"10.0.0.{min(number, 1)}")))
    assert told == {"in": OF_NETWORK_MAX + 1, Code.SIGN_IN_BUSY: FLOOD - OF_NETWORK_MAX - 1}
    held.checks.close()


def test_a_slow_directory_holds_up_no_other_provider(held: Held) -> None:
    async def both() -> str:
        brakes = [Brake("corp", "mia", f"10.0.{number}.1") for number in range(INSIDE_MAX)]
        slow = [asyncio.create_task(held.sign_in(brake)) for brake in brakes]
        await asyncio.to_thread(until, lambda: held.checks.inside("corp") == INSIDE_MAX)
        other = await held.checks.run(Brake("other", "mia", "10.0.0.1"), held.accounts, lambda: "in")
        held.released.set()
        assert await asyncio.gather(*slow) == ["in"] * INSIDE_MAX
        return other

    assert asyncio.run(both()) == "in"
    held.checks.close()


@pytest.mark.parametrize("networks", [3, INSIDE_MAX, FLOOD])
def test_floods_of_others_do_not_take_the_turn_of_a_familiar_user(held: Held, networks: int) -> None:
    """Nor does the brake's answer for the network; an unfamiliar user must come back later."""
    known = Brake("local", "mia", "192.0.2.1")
    known.record_success(held.accounts, known.take(held.accounts))

    async def flooded() -> list[str]:
        brakes = [Brake("local", f"user-{n}", f"10.0.{n % networks}.1") for n in range(FLOOD)]
        tasks = [asyncio.create_task(held.sign_in(brake)) for brake in brakes]
        # While the flood asks who of it is familiar, these questions may take all their places for some milliseconds.
        await asyncio.to_thread(
            until, lambda: (held.checks.inside("local"), held.checks._looks.inside) == (INSIDE_MAX, 0)
        )
        held.checks._remember(TooManyGuesses(known.place, 300.0))
        told = [
            await held.checks.run(known, held.accounts, lambda: "in"),
            await held.sign_in(replace(known, user="ben")),
        ]
        held.released.set()
        await asyncio.gather(*tasks)
        return told

    assert asyncio.run(flooded()) == ["in", Code.TOO_MANY_SIGN_INS]
    held.checks.close()


class Guesses:
    """Wrong passwords at one store."""

    def __init__(self, accounts: AccountStore) -> None:
        self.accounts, self.checks = accounts, PasswordChecks()
        self.looks, self.hashes = 0, 0
        self.brake = Brake("local", "mia", "192.0.2.1")

    def check(self) -> None:
        self.hashes += 1

    def work(self) -> None:
        self.looks += 1
        passwords.guess(self.accounts, self.brake, self.check)

    async def guess(self, number: int) -> list[str]:
        async def one() -> str:
            with pytest.raises(ApiProblem) as refused:
                await self.checks.run(self.brake, self.accounts, self.work)
            return refused.value.problem.code

        return await asyncio.gather(*(one() for _ in range(number)))


def test_braked_sign_in_takes_neither_a_hash_nor_a_thread(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    guesses = Guesses(store.accounts)
    for _ in range(FAILURES_OF_PAIR_MAX):
        guesses.brake.take(guesses.accounts)
    assert asyncio.run(guesses.guess(1)) == [Code.TOO_MANY_SIGN_INS]
    assert (guesses.looks, guesses.hashes) == (1, 0)
    assert set(asyncio.run(guesses.guess(FLOOD))) == {Code.TOO_MANY_SIGN_INS}
    assert (guesses.looks, guesses.hashes) == (1, 0)
    with pytest.raises(ApiProblem) as refused:
        asyncio.run(guesses.checks.run(guesses.brake, guesses.accounts, guesses.work))
    assert 0 < (refused.value.problem.retry_after_s or 0) <= WITHIN_S
    monkeypatch.setattr(guesses.checks, "_clock", ManualClock(1e12))
    asyncio.run(guesses.guess(1))
    assert guesses.looks == 2
    guesses.checks.close()


def test_guesses_beside_each_other_do_not_pass_the_brake(store: PostgresStore) -> None:
    guesses = Guesses(store.accounts)
    told = Counter(asyncio.run(guesses.guess(FLOOD)))
    while Code.TOO_MANY_SIGN_INS not in told:
        told += Counter(asyncio.run(guesses.guess(AT_ONCE_MAX)))
    assert told[Code.BAD_SIGN_IN] == guesses.hashes
    assert guesses.hashes == FAILURES_OF_PAIR_MAX
    guesses.checks.close()


def test_a_caller_who_leaves_keeps_its_place_until_the_check_ends(held: Held) -> None:
    async def leave() -> int:
        task = asyncio.create_task(held.sign_in(Brake("local", "mia", "10.0.0.1")))
        await asyncio.to_thread(until, lambda: bool(held.threads))
        task.cancel()
        await asyncio.wait([task])
        return held.checks.inside("local")

    assert asyncio.run(leave()) == 1
    held.released.set()
    until(lambda: held.checks.inside("local") == 0)
    held.checks.close()
