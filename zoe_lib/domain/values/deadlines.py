"""Missed deadlines, and the time that an execution lost before its present attempt. Seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_client.vocabulary import DeadlineCause
from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class EarlierAttempts:
    """Time in the queue before the present wait, and time of attempts without a result.
    lost_s: of attempts that the platform ended, with a lost node for example. store_s: of those that waited for their
    bandwidth in vain. failed_s: of all others.
    """

    queued_s: float = 0.0
    lost_s: float = 0.0
    store_s: float = 0.0
    failed_s: float = 0.0


NO_EARLIER = EarlierAttempts()


@value(frozen=True, slots=True)
class DeadlineMiss:
    """A missed deadline. costs_s: seconds lost by cause. expected_s: the expected run time; None: unknown."""

    deadline_s: float
    cause: DeadlineCause
    costs_s: Mapping[DeadlineCause, float] = field(default_factory=dict)
    expected_s: float | None = None
