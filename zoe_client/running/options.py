"""Options that several methods of the clients share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class SubmitOptions(TypedDict, total=False):
    """How an application is submitted: the keywords of `Client.submit`."""

    name: str | None
    priority: int | None
    deadline_s: float | None
    deadline: str | None
    finish_by: str | None
    confidence: float | None
    budget: float | None
    hold: bool
    begin_at_s: float | None
    begin_in_s: float | None
    after: Sequence[str]
    keep: bool
    idempotency_key: str | None


class MapOptions(TypedDict, total=False):
    """How `Client.map` runs. image: `zoe/python` without it. memory, cores: of each call. at_once: how many run at the
    same time. requirements: packages that are installed first. key: the same key, function and inputs find the
    same run again, if the former one was not closed; others are a Conflict.
    """

    image: str
    memory: str
    cores: float
    at_once: int | None
    requirements: Sequence[str]
    name: str
    key: str | None
