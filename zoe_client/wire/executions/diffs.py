"""Differences between two executions."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from zoe_client.wire.base import Wire


class DiffPart(StrEnum):
    """The part of an execution that differs."""

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
    """A field with different values; null where it is absent. `path` contains components by name."""

    part: DiffPart
    path: str
    before: Any
    after: Any


class DiffView(Wire):
    """Differences of the second execution from the first; null: there is no earlier one.

    `hidden`: values of environment variables and texts of files are not compared, since one of the executions is only
    shared with you. `complete`: false if there are more differences than listed.
    """

    before: str | None
    after: str
    entries: list[DiffEntry]
    hidden: bool
    complete: bool = Field(default=True)
