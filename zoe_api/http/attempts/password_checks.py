"""Threads that check and make passwords and ask providers: a few for each, separate from all other requests, and
separate for users at networks from which they sign in.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from zoe_api.http.attempts.guess_limit import Brake, TooManyGuesses
from zoe_api.http.attempts.lane import Lane, NoPlace
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.postgres.accounts import AccountStore

T = TypeVar("T")
AT_ONCE_MAX = 4  # a check takes 64 MiB
# A check takes about 0.1 s, so the last one waiting is answered within about a second.
INSIDE_MAX = AT_ONCE_MAX + 32
OF_NETWORK_MAX = 16  # running or waiting at the same time
FAMILIAR_AT_ONCE_MAX = 2
# A check whether a user is familiar takes about a millisecond.
_LOOKS_AT_ONCE_MAX, _LOOKS_MAX, _LOOKS_OF_NETWORK_MAX = 2, 64, 8
REMEMBERED_S = 10.0
ADMINS = "admins"
"""The lane of passwords that admins set, so that a flood of sign-ins takes none of their places."""
_FAMILIAR = " familiar"
_REMEMBERED_MAX = 10_000


class PasswordChecks:
    """Run password checks; refuse braked ones, and those without a place, before any hashing."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._lanes: dict[str, Lane] = {}
        self._looks = Lane("familiar", _LOOKS_AT_ONCE_MAX, _LOOKS_MAX, _LOOKS_OF_NETWORK_MAX)
        self._braked: dict[str, tuple[float, float]] = {}
        """Until when a refusal of a key is remembered, and when it ends."""

    async def run(self, brake: Brake, accounts: AccountStore, work: Callable[[], T]) -> T:
        """Return what the work returns; TooManyGuesses, or 429 if all places are taken.

        A familiar user whom other users of the network would delay or displace uses a separate lane.
        """
        if (left_s := self._braked_s(brake.pair)) is not None:
            raise _too_many(left_s)
        braked_s = self._braked_s(brake.place)
        braked = braked_s is not None
        familiar = (braked or self.lane(brake.provider).is_busy) and await self._is_familiar(brake, accounts)
        if braked_s is not None and not familiar:
            raise _too_many(braked_s)
        try:
            return await self.run_unbraked(brake.provider + _FAMILIAR * familiar, brake.network, work)
        except TooManyGuesses as refusal:
            self._remember(refusal)
            raise

    async def run_unbraked(self, lane: str, network: str, work: Callable[[], T]) -> T:
        """Return the result of the task, without a brake, as it guesses no password; 429, without a thread, if the lane
        is full.

        A lane is a provider, or ADMINS. A place is held until the task has ended, even if its caller has left, since it
        takes memory and a thread.
        """
        try:
            return await asyncio.wrap_future(self.lane(lane).submit(network, work))
        except NoPlace:
            hint = "each place is free within a second: try again"
            raise ApiProblem(Code.SIGN_IN_BUSY, hint=hint) from None

    def inside(self, lane: str) -> int:
        """Return the number of running and waiting checks of a lane."""
        return self.lane(lane).inside

    def close(self) -> None:
        """Let the threads end after their running check."""
        with self._lock:
            for lane in (*self._lanes.values(), self._looks):
                lane.close()
            self._lanes.clear()

    def lane(self, name: str) -> Lane:
        """Return the lane of this name; each has its own threads, so that a slow directory delays no other."""
        with self._lock:
            if name not in self._lanes:
                at_once_max = FAMILIAR_AT_ONCE_MAX if name.endswith(_FAMILIAR) else AT_ONCE_MAX
                self._lanes[name] = Lane(f"passwords-{name}", at_once_max, INSIDE_MAX, OF_NETWORK_MAX)
            return self._lanes[name]

    async def _is_familiar(self, brake: Brake, accounts: AccountStore) -> bool:
        """Return whether the user is familiar; False also if too many such checks run."""
        try:
            return await asyncio.wrap_future(self._looks.submit(brake.network, lambda: brake.is_familiar(accounts)))
        except NoPlace:
            return False

    def _braked_s(self, key: str) -> float | None:
        """Return the remaining seconds of a remembered refusal of a key; None if there is none."""
        until_s, ends_s = self._braked.get(key, (0.0, 0.0))
        now_s = self._clock.monotonic_s()
        return ends_s - now_s if until_s > now_s else None

    def _remember(self, refusal: TooManyGuesses) -> None:
        if len(self._braked) >= _REMEMBERED_MAX:
            self._braked.clear()
        now_s = self._clock.monotonic_s()
        self._braked[refusal.key] = now_s + REMEMBERED_S, now_s + refusal.within_s


def _too_many(left_s: float) -> ApiProblem:
    return ApiProblem(Code.TOO_MANY_SIGN_INS, "try again in a few minutes").retry_after(left_s)
