"""Former owners of executions that were handed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class FormerUser:
    """The owner until a hand-over, in seconds since the epoch: what ran before is this owner's use.

    `granted_s`: seconds of each day (since the epoch, UTC) for which bandwidth had been granted by then, in all.
    """

    user: str
    until_s: float
    granted_s: Mapping[int, float] = field(default_factory=dict)
