"""Options that several methods of the clients share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from zoe_client.documents.additions import Secrets


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
    env: Mapping[str, str] | None
    secrets: Secrets
    results: Sequence[str]


class MapOptions(TypedDict, total=False):
    """Options of `Client.map`. image: `zoe/python` by default. memory, cores: of each call. at_once: maximum calls at
    the same time. requirements: packages to install first. key: the same key, function and inputs return the same run,
    if it has not been closed; another function or other inputs raise Conflict.
    """

    image: str
    memory: str
    cores: float
    at_once: int | None
    requirements: Sequence[str]
    name: str
    key: str | None
