"""Replays of the journal."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from zoe_client.wire.base import SECONDS_MAX, Numbers, Wire


class ReplayRequest(Numbers):
    """The period to replay, and the changes: settings of the policy, and more nodes like the named ones."""

    from_s: float = Field(ge=0, le=SECONDS_MAX, allow_inf_nan=False)
    to_s: float | None = Field(default=None, ge=0, le=SECONDS_MAX, allow_inf_nan=False, description="Null: now.")
    policy: dict[str, Any] = Field(default={}, max_length=100)
    add_nodes: list[str] = Field(default=[], max_length=100)
    picture: Literal["png", "html"] | None = None


class ReplayPointView(Wire):
    """Waiting executions and reserved cores at one time."""

    at_s: float
    waiting: int
    cores: float


class ReplayView(Wire):
    """The result of a replay. Without changes, it must repeat every recorded decision.

    `figures`: by side (`as it was`, `changed`) and name; times in seconds. `series`: by side, in order of time.
    """

    from_s: float
    to_s: float
    ticks: int
    decisions: int
    reproduced: int
    first_difference: str
    figures: dict[str, dict[str, float]]
    series: dict[str, list[ReplayPointView]]
    picture: str | None = Field(default=None, description="The picture in base64.")
