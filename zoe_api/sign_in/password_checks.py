"""Where passwords are checked and made, and providers asked: a few threads of each, apart from those that answer all
other requests."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_api.sign_in.brake import Brake, Braked

T = TypeVar("T")
AT_ONCE_MAX = 4  # a check takes 64 MiB
# A check takes about 0.1 s, so that the last of those who wait is answered within about a second.
INSIDE_MAX = AT_ONCE_MAX + 32
OF_NETWORK_MAX = 16  # inside at the same time, so that one network cannot take all places
REMEMBERED_S = 10.0
ADMINS = "admins"
"""The lane of passwords that admins set: a flood of sign-ins takes no place of theirs."""
_REMEMBERED_MAX = 10_000


class PasswordChecks:
    """Runs checks of passwords, and refuses in the event loop what is braked or finds no place."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executors: dict[str, ThreadPoolExecutor] = {}
        self._inside: Counter[tuple[str, str]] = Counter()
        self._braked: dict[str, float] = {}

    async def run(self, brake: Brake, work: Callable[[], T]) -> T:
        """Return what the work gives; Braked, or 429 when the places are taken, in both cases without a thread."""
        self._refuse_braked(brake)
        try:
            return await self.run_unbraked(brake.provider, brake.network, work)
        except Braked as refusal:
            self._remember(refusal.key)
            raise

    async def run_unbraked(self, lane: str, network: str, work: Callable[[], T]) -> T:
        """Return what the work gives that guesses no password; 429, without a thread, when the lane's places are taken.

        A lane is a provider, or ADMINS.
        """
        self._enter(lane, network)
        try:
            future = self._executor(lane).submit(copy_context().run, work)
        except BaseException:
            self._leave(lane, network)
            raise
        # When the work has ended, not when its caller has left: until then it takes memory and a thread.
        future.add_done_callback(lambda _: self._leave(lane, network))
        return await asyncio.wrap_future(future)

    def inside(self, provider: str) -> int:
        """Return how many checks of a provider run or wait."""
        with self._lock:
            return self._inside[provider, ""]

    def close(self) -> None:
        """Let the threads end; a check that runs comes to its end."""
        with self._lock:
            for executor in self._executors.values():
                executor.shutdown(wait=False, cancel_futures=True)
            self._executors.clear()

    def _executor(self, provider: str) -> ThreadPoolExecutor:
        """Return that of the provider: a slow directory holds up no other."""
        with self._lock:
            make = partial(ThreadPoolExecutor, AT_ONCE_MAX, f"passwords-{provider}")
            return self._executors.get(provider) or self._executors.setdefault(provider, make())

    def _enter(self, lane: str, network: str) -> None:
        with self._lock:
            whole, own = (lane, ""), (lane, f"from {network}")
            if self._inside[whole] >= INSIDE_MAX or self._inside[own] >= OF_NETWORK_MAX:
                raise ApiProblem(Code.SIGN_IN_BUSY)
            self._inside.update((whole, own))

    def _leave(self, lane: str, network: str) -> None:
        with self._lock:
            self._inside.subtract([(lane, ""), (lane, f"from {network}")])
            self._inside = +self._inside

    def _refuse_braked(self, brake: Brake) -> None:
        now_s = time.monotonic()
        if any(self._braked.get(key, 0.0) > now_s for key in (brake.pair, brake.place)):
            raise ApiProblem(Code.TOO_MANY_SIGN_INS, "try again in some minutes")

    def _remember(self, key: str) -> None:
        if len(self._braked) >= _REMEMBERED_MAX:
            self._braked.clear()
        self._braked[key] = time.monotonic() + REMEMBERED_S
