"""One attempt of an execution: each has separate shared objects, so that an earlier one reaches none of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from zoe_lib.domain.executions.execution import ExecutionId
from zoe_master.backends.engine.spec.naming import labels


class Attempt(NamedTuple):
    """`number` counts attempts of the execution; 0 if unknown."""

    execution_id: ExecutionId
    number: int


def attempt_of(tags: Mapping[str, str]) -> Attempt:
    """Return the attempt of an object with these labels."""
    return Attempt(tags.get(labels.EXECUTION, ""), int(tags.get(labels.GENERATION, "0")))


def attempt_labels(attempt: Attempt, tenant: str, installation: str) -> dict[str, str]:
    """Return the labels of all objects that an attempt's services share."""
    return {
        labels.INSTALLATION: installation,
        labels.EXECUTION: attempt.execution_id,
        labels.GENERATION: str(attempt.number),
        labels.TENANT: tenant,
    }
