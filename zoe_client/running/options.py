"""Options that several methods of the clients share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
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
    run_time_s: float | None
    hold: bool
    begin_at_s: float | None
    begin_in_s: float | None
    after: Sequence[str]
    keep: bool
    idempotency_key: str | None
    env: Mapping[str, str] | None
    secrets: Secrets
    results: Sequence[str]


class ScriptOptions(TypedDict, total=False):
    """Options of `Client.script`. image: of a command [scripts: `zoe/python` for .py, `zoe/tiny` for .sh]. memory,
    cores: of each instance [1GiB, 1]. workers: instances. files: further ones beside the program. packages: Python
    packages to install first. name: of the application. in_array: `{index}` in arguments is the index of an array.
    """

    image: str
    memory: str
    cores: float
    workers: int
    files: Sequence[str | Path]
    packages: Sequence[str]
    name: str
    in_array: bool


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
