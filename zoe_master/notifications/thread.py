"""The thread that notifies targets while this master leads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.errors import StoreError
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_master.notifications.turn import NotificationSenders, TargetTurn

log = structlog.get_logger(__name__)

_LOOK_S = 1.0
_ENTRIES_PER_LOOK = 5000
_AT_ONCE_MAX = 32
_END_S, _LEFT_S = 2.0, 3.0


class NotificationThread:
    """Runs beside one master until it is closed; the next leader continues."""

    def __init__(
        self, accounts: AccountStore, senders: NotificationSenders, look_s: float = _LOOK_S, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._clock = clock
        self._accounts = accounts
        self._senders = senders
        self._look_s = look_s
        self._closing = threading.Event()
        self._told: dict[str, asyncio.Task[None]] = {}
        self._thread = threading.Thread(target=self._run, name="zoe-notifications", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, or abandon it: a mail server that hangs must not keep another master from the lead."""
        self._closing.set()
        self._thread.join(_LEFT_S)

    def _run(self) -> None:
        asyncio.run(self._look_on())

    async def _look_on(self) -> None:
        try:
            while not self._closing.is_set():
                more = False
                try:
                    more = await self._look()
                except StoreError as error:
                    log.warning("notifications wait", why=str(error))
                except Exception:
                    log.exception("looking for notifications failed")
                if not more:
                    await asyncio.to_thread(self._closing.wait, self._look_s)
        finally:
            await self._end_turns()
            await self._senders.webhooks.close()

    async def _end_turns(self) -> None:
        """Let pending sends be recorded, so that few are repeated; a target that does not answer is abandoned."""
        if self._told:
            _, late = await asyncio.wait(self._told.values(), timeout=_END_S)
            for task in late:
                task.cancel()

    async def _look(self) -> bool:
        """Read on in the journal, begin turns, and return whether there is more to read."""
        more = await asyncio.to_thread(self._accounts.note_news, _ENTRIES_PER_LOOK)
        # A target whose turn ends during this read may be in it with its old position, and would get duplicates.
        busy = set(self._told)
        due = await asyncio.to_thread(self._accounts.due_targets, self._clock.now_s(), 2 * _AT_ONCE_MAX)
        for target in due:
            if len(self._told) < _AT_ONCE_MAX and target.id not in busy:
                turn = TargetTurn(self._accounts, self._senders, target, self._closing.is_set, self._clock)
                self._told[target.id] = asyncio.create_task(self._turn(target.id, turn.run()))
        return more

    async def _turn(self, target_id: str, turn: Coroutine[None, None, None]) -> None:
        try:
            await turn
        except StoreError as error:
            log.warning("a target waits for its notifications", target=target_id, why=str(error))
        except Exception:
            log.exception("notifying a target failed", target=target_id)
            with suppress(StoreError):
                now_s = self._clock.now_s()
                note = self._accounts.note_not_told
                await asyncio.to_thread(note, target_id, "an unexpected error", now_s, now_s + 60.0)
        finally:
            del self._told[target_id]
