"""One turn of a target: send its pending notifications."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.notifications import Notification, is_mail
from zoe_lib.sealing import CannotOpen
from zoe_lib.store.people import NotificationTarget
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_master.notifications import messages
from zoe_master.notifications.mail import NotificationMail, send
from zoe_master.notifications.messages import NotificationMessage
from zoe_master.notifications.metrics import NOT_TOLD, STOPPED, TOLD
from zoe_master.notifications.webhook import NotDelivered, NotificationWebhooks

_AT_ONCE, _IN_A_MAIL = 100, 1000
# A burst of ends fits into a few mails.
_MAIL_PAUSE_S = 60.0
# Maximum duration of one target's turn, in seconds; then others have theirs.
_TURN_S = 20.0
# Pauses between tries, random, so that targets behind one server do not return all at once.
_PAUSE_S, _PAUSE_S_MAX, _DOUBLINGS_MAX, _SPREAD = 5.0, 3600.0, 10, 0.2


@dataclass(frozen=True, slots=True)
class NotificationSenders:
    """How notifications are sent. secret: returns the secret of a target. url: public URL of the API. retry_s: how long
    an unresponsive target is retried.
    """

    webhooks: NotificationWebhooks
    mail: NotificationMail | None
    secret: Callable[[NotificationTarget], str]
    url: str | None
    retry_s: float


class TargetTurn:
    """The work for one target before others have their turn."""

    def __init__(
        self,
        accounts: AccountStore,
        senders: NotificationSenders,
        target: NotificationTarget,
        closing: Callable[[], bool],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._accounts = accounts
        self._closing = closing
        self._senders = senders
        self._target = target
        self._failures = target.failures

    async def run(self) -> None:
        """Send the target its next news, in order, and record its position; StoreError."""
        target = self._target
        try:
            if target.test:
                await self._test()
            if target.test or not target.stopped:
                await self._refusals()
                await self._news()
        except NotDelivered as error:
            await self._note_failure(error)

    async def _refusals(self) -> None:
        """Send the refusals of schedules' times. They are few, so they come before other news."""
        target = self._target
        found = await asyncio.to_thread(self._accounts.refusals, target, _AT_ONCE)
        if found and is_mail(target.url):
            await self._mail(f"{target.id}.schedule.{found[-1].id}", *messages.refusal_mail(target, found))
            await self._note_refusals_sent(found[-1].id)
        elif not is_mail(target.url):
            for refusal in found:
                await self._post(messages.refusal_webhook(target, refusal))
                await self._note_refusals_sent(refusal.id)

    async def _note_refusals_sent(self, refusals_id: int) -> None:
        self._failures = 0
        TOLD.inc()
        pause_s = _MAIL_PAUSE_S if is_mail(self._target.url) else 0.0
        note = self._accounts.note_refusals_told
        await asyncio.to_thread(note, self._target.id, refusals_id, self._clock.now_s(), pause_s)

    async def _news(self) -> None:
        target = self._target
        most = _IN_A_MAIL if is_mail(target.url) else _AT_ONCE
        found = await asyncio.to_thread(self._accounts.notifications, target, most)
        wanted = messages.notifications_for(target, found)
        if is_mail(target.url):
            if wanted:
                subject, text = messages.mail(target, wanted, self._senders.url)
                await self._mail(f"{target.id}.{wanted[-1].id}", subject, text)
        elif not await self._webhooks(wanted):
            return
        await self._note_success(found[-1].id if len(found) == most else target.news_id, bool(wanted))

    async def _webhooks(self, wanted: Sequence[Notification]) -> bool:
        """Send them one after another, recording each; return False if the turn ended before."""
        until_s = self._clock.monotonic_s() + _TURN_S
        for notification in wanted:
            await self._post(messages.webhook(self._target, notification, self._senders.url))
            await self._note_success(notification.id)
            if (self._clock.monotonic_s() > until_s or self._closing()) and notification is not wanted[-1]:
                return False
        return True

    async def _test(self) -> None:
        now_s = self._clock.now_s()
        if is_mail(self._target.url):
            text = f"This mail shows that the target {self._target.name!r} of Zoe works.\n"
            await self._mail(f"{self._target.id}.test.{int(now_s)}", "Zoe: a test", text)
        else:
            await self._post(messages.webhook_test(self._target, now_s))
        await self._note_success(self._target.done_id, tested=True)

    async def _post(self, message: NotificationMessage) -> None:
        try:
            secret = self._senders.secret(self._target)
        except CannotOpen as error:
            raise NotDelivered(f"set it again: {error}") from None
        await self._senders.webhooks.send(self._target.url, message, message.headers(secret, self._clock.now_s()))

    async def _mail(self, message_id: str, subject: str, text: str) -> None:
        if self._senders.mail is None:
            raise NotDelivered("this installation sends no mail")
        await asyncio.to_thread(send, self._senders.mail, self._target.url, message_id, subject, text)

    async def _note_success(self, done_id: int, sent: bool = True, tested: bool = False) -> None:
        if sent:
            self._failures = 0
            TOLD.inc()
        pause_s = _MAIL_PAUSE_S if sent and is_mail(self._target.url) else 0.0
        note = self._accounts.note_told
        await asyncio.to_thread(note, self._target.id, done_id, self._clock.now_s(), pause_s, sent, tested)

    async def _note_failure(self, error: NotDelivered) -> None:
        target, now_s = self._target, self._clock.now_s()
        since_s = target.failing_since_s if self._failures and target.failing_since_s is not None else now_s
        pause_s = min(_PAUSE_S * 2 ** min(self._failures, _DOUBLINGS_MAX), _PAUSE_S_MAX)
        pause_s *= random.uniform(1 - _SPREAD, 1 + _SPREAD)
        stopped = error.for_good or now_s - since_s > self._senders.retry_s
        (STOPPED if stopped else NOT_TOLD).inc()
        note = self._accounts.note_not_told
        why, next_at_s = str(error)[:_WHY_MAX], now_s + pause_s
        await asyncio.to_thread(note, target.id, why, now_s, next_at_s, stopped, target.test)


_WHY_MAX = 500
