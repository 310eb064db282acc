"""Where passwords are checked and made, and providers asked: a few threads of each, apart from those that answer all
other requests, and apart from each other for users at networks that they sign in from."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_api.sign_in.brake import Brake, Braked
from zoe_api.sign_in.lane import Lane, NoPlace
from zoe_lib.store.accounts import AccountStore

T = TypeVar("T")
AT_ONCE_MAX = 4  # a check takes 64 MiB
# A check takes about 0.1 s, so that the last of those who wait is answered within about a second.
INSIDE_MAX = AT_ONCE_MAX + 32
OF_NETWORK_MAX = 16  # inside at the same time
FAMILIAR_AT_ONCE_MAX = 2
# A look whether somebody is familiar takes about a millisecond.
_LOOKS_AT_ONCE_MAX, _LOOKS_MAX, _LOOKS_OF_NETWORK_MAX = 2, 64, 8
REMEMBERED_S = 10.0
ADMINS = "admins"
"""The lane of passwords that admins set: a flood of sign-ins takes no place of theirs."""
_FAMILIAR = " familiar"
_REMEMBERED_MAX = 10_000


class PasswordChecks:
    """Runs checks of passwords, and refuses what is braked or finds no place without a hash."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lanes: dict[str, Lane] = {}
        self._looks = Lane("familiar", _LOOKS_AT_ONCE_MAX, _LOOKS_MAX, _LOOKS_OF_NETWORK_MAX)
        self._braked: dict[str, float] = {}

    async def run(self, brake: Brake, accounts: AccountStore, work: Callable[[], T]) -> T:
        """Return what the work gives; Braked, or 429 when the places are taken.

        Whoever would wait or be refused for what others at the network did goes, where familiar, to a lane apart.
        """
        if self._is_braked(brake.pair):
            raise _too_many()
        braked = self._is_braked(brake.place)
        familiar = (braked or self.lane(brake.provider).is_busy) and await self._is_familiar(brake, accounts)
        if braked and not familiar:
            raise _too_many()
        try:
            return await self.run_unbraked(brake.provider + _FAMILIAR * familiar, brake.network, work)
        except Braked as refusal:
            self._remember(refusal.key)
            raise

    async def run_unbraked(self, lane: str, network: str, work: Callable[[], T]) -> T:
        """Return what the work gives that guesses no password; 429, without a thread, when the lane's places are taken.

        A lane is a provider, or ADMINS. A place is held until the work has ended, not until its caller has left: it
        takes memory and a thread.
        """
        try:
            return await asyncio.wrap_future(self.lane(lane).submit(network, work))
        except NoPlace:
            raise ApiProblem(Code.SIGN_IN_BUSY) from None

    def inside(self, lane: str) -> int:
        """Return how many checks of a lane run or wait."""
        return self.lane(lane).inside

    def close(self) -> None:
        """Let the threads end; a check that runs comes to its end."""
        with self._lock:
            for lane in (*self._lanes.values(), self._looks):
                lane.close()
            self._lanes.clear()

    def lane(self, name: str) -> Lane:
        """Return the lane of that name; each has threads of its own: a slow directory holds up no other."""
        with self._lock:
            if name not in self._lanes:
                at_once_max = FAMILIAR_AT_ONCE_MAX if name.endswith(_FAMILIAR) else AT_ONCE_MAX
                self._lanes[name] = Lane(f"passwords-{name}", at_once_max, INSIDE_MAX, OF_NETWORK_MAX)
            return self._lanes[name]

    async def _is_familiar(self, brake: Brake, accounts: AccountStore) -> bool:
        """False also when too many ask."""
        try:
            return await asyncio.wrap_future(self._looks.submit(brake.network, lambda: brake.is_familiar(accounts)))
        except NoPlace:
            return False

    def _is_braked(self, key: str) -> bool:
        return self._braked.get(key, 0.0) > time.monotonic()

    def _remember(self, key: str) -> None:
        if len(self._braked) >= _REMEMBERED_MAX:
            self._braked.clear()
        self._braked[key] = time.monotonic() + REMEMBERED_S


def _too_many() -> ApiProblem:
    return ApiProblem(Code.TOO_MANY_SIGN_INS, "try again in a few minutes")
