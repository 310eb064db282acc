"""What became of a deadline, and what time an execution lost before its present attempt. Seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_client.vocabulary import DeadlineCause
from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class EarlierAttempts:
    """How long an execution waited in the queue before its present wait, and what attempts took that came to nothing.

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
    """An execution had not ended at its deadline. costs_s: seconds by cause. expected_s: the run time that was
    expected; None: none was known.
    """

    deadline_s: float
    cause: DeadlineCause
    costs_s: Mapping[DeadlineCause, float] = field(default_factory=dict)
    expected_s: float | None = None
