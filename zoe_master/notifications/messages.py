"""The contents of notifications, and the signatures of webhooks.

Webhooks follow Standard Webhooks 1.0 (standardwebhooks.com), so that receivers can check them with its libraries.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from zoe_client.vocabulary import Cause, NotificationKind
from zoe_lib.domain.executions.notifications import Notification, ScheduleRefusal
from zoe_lib.domain.values.clock import utc_text
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.store.people import NotificationTarget

SECRET_PREFIX = "whsec_"  # noqa: S105 - how secrets begin, not one
_LINES_MAX = 100
_SUBJECT_MAX = 150
TEST_KIND = "test"


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """A webhook's body, and the id with which its receiver drops duplicates."""

    id: str
    body: bytes

    def headers(self, secret: str, at_s: float) -> dict[str, str]:
        """Return the signature headers. `secret`: base64 after `whsec_`."""
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
        signed = b".".join((self.id.encode(), str(int(at_s)).encode(), self.body))
        signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return {
            "webhook-id": self.id,
            "webhook-timestamp": str(int(at_s)),
            "webhook-signature": f"v1,{signature}",
            "content-type": "application/json",
            "user-agent": "Zoe",
        }


def notifications_for(target: NotificationTarget, found: Iterable[Notification]) -> list[Notification]:
    """Return the events for the target: those of its kinds, or requested by the description.

    A description requests them for its owner. Executions that were to run after a failure that never came send no
    notification; cancelled indices are covered by the end of their array.
    """
    asked = target.user is not None
    return [
        notification
        for notification in found
        if (notification.kind in target.kinds or (asked and notification.kind in notification.asked))
        and not _was_not_needed(notification)
    ]


def _was_not_needed(one: Notification) -> bool:
    cancelled = one.kind is NotificationKind.CANCELLED
    return cancelled and (one.in_array or one.cause == Cause.DEPENDENCY_FAILED)


def webhook(target: NotificationTarget, one: Notification, url: str | None) -> NotificationMessage:
    """Return the webhook of a notification; `url`: public URL of the API."""
    if one.counts is not None:
        return _array_webhook(target, one, url)
    data: Mapping[str, object] = {
        "execution": {
            "id": one.execution_id,
            "name": one.name,
            "user": one.user,
            "tenant": one.tenant,
            "state": one.state,
            "cause": one.cause,
            "message": one.message,
            "exit_code": one.exit_code,
            "submitted_at_s": one.submitted_at_s,
            "started_at_s": one.started_at_s,
            "ended_at_s": one.ended_at_s,
            "deadline_missed": None if one.missed is None else _miss(one.missed),
            "url": page(one, url),
        },
        "event_id": one.id,
    }
    return _message(f"{target.id}_{one.id}", f"execution.{one.kind}", one.at_s, data)


def _array_webhook(target: NotificationTarget, one: Notification, url: str | None) -> NotificationMessage:
    data: Mapping[str, object] = {
        "array": {
            "id": one.execution_id,
            "name": one.name,
            "user": one.user,
            "tenant": one.tenant,
            "state": one.state,
            "counts": one.counts,
            "message": one.message,
            "submitted_at_s": one.submitted_at_s,
            "ended_at_s": one.ended_at_s,
            "url": page(one, url),
        },
        "event_id": one.id,
    }
    return _message(f"{target.id}_{one.id}", f"array.{one.kind}", one.at_s, data)


def _miss(missed: DeadlineMiss) -> Mapping[str, object]:
    return {"deadline_s": missed.deadline_s, "cause": missed.cause.value, "costs_s": dict(missed.costs_s)}


def refusal_webhook(target: NotificationTarget, one: ScheduleRefusal) -> NotificationMessage:
    """Return the webhook about a refused time of a schedule."""
    data = {
        "schedule": {
            "name": one.schedule,
            "user": one.user,
            "tenant": one.tenant,
            "due_s": one.due_s,
            "code": one.code,
            "message": one.message,
        }
    }
    return _message(f"{target.id}_schedule_{one.id}", "schedule.refused", one.at_s, data)


def refusal_mail(target: NotificationTarget, told: Sequence[ScheduleRefusal]) -> tuple[str, str]:
    """Return subject and text of a mail about refused times of schedules."""
    lines = [
        f"{refusal.schedule} of {refusal.user} was refused at {utc_text(refusal.due_s)}\n"
        f"  {_plain(refusal.message)} ({refusal.code})"
        for refusal in told[:_LINES_MAX]
    ]
    lines += [f"and {len(told) - _LINES_MAX} more"] if len(told) > _LINES_MAX else []
    times = "a time" if len(told) == 1 else f"{len(told)} times"
    return f"Zoe: {times} of schedules refused"[:_SUBJECT_MAX], "\n\n".join([*lines, _footer(target)]) + "\n"


def webhook_test(target: NotificationTarget, at_s: float) -> NotificationMessage:
    """Return a webhook that tests delivery."""
    return _message(f"{target.id}_test_{int(at_s * 1000)}", TEST_KIND, at_s, {"target": target.name})


def mail(target: NotificationTarget, told: Sequence[Notification], url: str | None) -> tuple[str, str]:
    """Return subject and text of a mail; for several executions it is a list."""
    lines = [_line(notification, url) for notification in told[:_LINES_MAX]]
    lines += [f"and {len(told) - _LINES_MAX} more"] if len(told) > _LINES_MAX else []
    if len(told) == 1:
        subject = f"{_plain(told[0].name)} {_words(told[0].kind)}"
    else:
        counts = {kind: sum(notification.kind is kind for notification in told) for kind in NotificationKind}
        subject = ", ".join(f"{count} {_words(kind)}" for kind, count in counts.items() if count)
    return f"Zoe: {subject}"[:_SUBJECT_MAX], "\n\n".join([*lines, _footer(target)]) + "\n"


def _footer(target: NotificationTarget) -> str:
    return f"Zoe sends this because of the target {target.name!r} ({target.tenant}); `zoe notify rm` ends it."


def page(one: Notification, url: str | None) -> str | None:
    """Return the address of the page of the execution, or of the array."""
    kind = "executions" if one.counts is None else "arrays"
    return None if url is None else f"{url}/{kind}/{one.execution_id}"


def _line(one: Notification, url: str | None) -> str:
    facts = [f"{_plain(one.name)} ({one.execution_id}) {_words(one.kind)} at {utc_text(one.at_s)}"]
    if one.counts is not None:
        facts += [", ".join(f"{count} {state}" for state, count in one.counts.items())]
    if one.kind in (NotificationKind.FAILED, NotificationKind.CANCELLED):
        facts += [f"cause: {one.cause}"] if one.cause else []
        facts += [f"exit code: {one.exit_code}"] if one.exit_code is not None else []
        facts += [_plain(one.message)] if one.message else []
    if one.kind is NotificationKind.DEADLINE_MISSED and one.missed is not None:
        facts += [f"deadline: {utc_text(one.missed.deadline_s)}", f"cause: {one.missed.cause}"]
    where = page(one, url)
    return "\n  ".join([*facts, *([where] if where else [])])


def _words(kind: NotificationKind) -> str:
    return "missed its deadline" if kind is NotificationKind.DEADLINE_MISSED else kind.value


def _plain(text: str) -> str:
    """Return a user's text on one line."""
    return "".join(character if character.isprintable() else " " for character in text)


def _message(message_id: str, kind: str, at_s: float, data: Mapping[str, object]) -> NotificationMessage:
    body = {"type": kind, "timestamp": datetime.fromtimestamp(at_s, UTC).isoformat(), "data": data}
    return NotificationMessage(message_id, json.dumps(body).encode())
