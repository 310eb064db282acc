"""Targets of notifications: webhooks and mail addresses."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from zoe_client.vocabulary import NotificationKind
from zoe_client.wire.base import Wire

ENDED = (NotificationKind.SUCCEEDED, NotificationKind.FAILED, NotificationKind.CANCELLED)


class TargetRequest(Wire):
    """A target, and the events that notify it. `url`: `https://...` of a webhook, or `mailto:NAME@DOMAIN`. `on`: events
    of all your executions (with `of_tenant`: of the tenant's); descriptions add to it by `notify`. `new_secret`: sign
    with a new secret from now on.
    """

    url: Annotated[str, Field(min_length=1, max_length=2000)]
    on: Annotated[tuple[NotificationKind, ...], Field(max_length=len(NotificationKind))] = ENDED
    new_secret: bool = False


class TargetView(Wire):
    """A target of notifications. `secret`: signs webhooks; returned once, when it is made.

    `failures`: tries since the last success, with `last_error`; `stopped`: Zoe does not try it any more, until it is
    set or tested again. `told_at_s`: time of the last successful notification. `test`: a test is in progress.
    """

    name: str
    user: str | None
    url: str
    on: list[NotificationKind]
    secret: str | None = None
    set_at_s: float
    set_by: str
    failures: int
    failing_since_s: float | None
    next_at_s: float | None
    last_error: str
    told_at_s: float | None
    stopped: bool
    test: bool
    waiting: bool


class TargetList(Wire):
    """Your targets in the tenant, and those of the tenant."""

    targets: list[TargetView]
