"""What differs between two executions."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from zoe_client.wire.base import Wire


class DiffPart(StrEnum):
    """What a difference is about."""

    DESCRIPTION = "description"
    IMAGE = "image"
    RESOURCES = "resources"
    ENVIRONMENT = "environment"
    INPUTS = "inputs"
    RESULTS = "results"
    OUTCOME = "outcome"
    TIMES = "times"
    USE = "use"


class DiffEntry(Wire):
    """A field with other values: null where it is not there. Components are named by their names in `path`."""

    part: DiffPart
    path: str
    before: Any
    after: Any


class DiffView(Wire):
    """How the second execution differs from the first; null: there is none before it.

    `hidden`: values of environment variables and texts of files are not compared, since one of the executions is only
    shared with you. `complete`: false if more differs than is listed.
    """

    before: str | None
    after: str
    entries: list[DiffEntry]
    hidden: bool
    complete: bool = Field(default=True)
