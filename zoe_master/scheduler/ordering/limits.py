"""Limits of the policy on the resources of tenants, and users in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from zoe_client.words.amounts import cores, size
from zoe_lib.domain.cluster.policy import Policy, limits_of
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.limits import Limit, LimitSubject, reserved_resources
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.resources import Resources

_ENDLESS = 2**62


class TenantReservations:
    """Reservations of each tenant's and each user's services while a plan is made; not counted where they are not
    needed.

    `limited`: whether any limit may make an execution wait.
    """

    def __init__(self, active: Iterable[Execution], policy: Policy) -> None:
        self.limited = policy.limits.can_delay_executions()
        self._policy = policy
        self._limits: dict[tuple[str, str], Sequence[tuple[LimitSubject, Limit]]] = {}
        self._held: dict[LimitSubject, Resources] = defaultdict(Resources)
        for execution in active if self.limited or policy.tenants != "none" else ():
            self.take(execution, reserved_resources(execution))

    def reserved_by(self, tenant: str) -> Resources:
        """Return the tenant's present reservations."""
        return self._reserved_by_holder(LimitSubject(tenant))

    def take(self, execution: Execution, amount: Resources) -> None:
        """Count an additional amount."""
        holders = [LimitSubject(execution.tenant)]
        if self._policy.user_limits:
            holders.append(LimitSubject(execution.tenant, execution.user))
        for holder in holders:
            self._held[holder] = self._held[holder] + amount

    def holders(self, execution: Execution) -> Sequence[LimitSubject]:
        """Return the holders whose limits count its services."""
        return [holder for holder, _ in self._limits_of(execution)]

    def room_for(self, execution: Execution, amount: Resources) -> int | None:
        """Return how many times this amount still fits; None if nothing limits it."""
        counts = [
            max(most - has, 0) // wanted
            for holder, limit in self._limits_of(execution)
            for most, has, wanted in _limited_amounts(limit, self._reserved_by_holder(holder), amount)
            if most is not None and wanted > 0
        ]
        return min(counts, default=None)

    def full_for(self, execution: Execution, amount: Resources) -> LimitSubject | None:
        """Return the first holder whose limit leaves no room for this amount; None if all do."""
        for holder, limit in self._limits_of(execution):
            if any(_excess_amount(*each) for each in _limited_amounts(limit, self._reserved_by_holder(holder), amount)):
                return holder
        return None

    def excess(self, execution: Execution) -> Mapping[LimitSubject, Resources]:
        """Return by how much the core would exceed each holder's limit now; empty if it may start."""
        found: dict[LimitSubject, Resources] = {}
        for holder, limit in self._limits_of(execution):
            core = execution.application.core_resources()
            cores, memory = (
                _excess_amount(*amount) for amount in _limited_amounts(limit, self._reserved_by_holder(holder), core)
            )
            if cores or memory:
                found[holder] = Resources(cores, memory)
        return found

    def left_of(self, execution: Execution, holder: LimitSubject) -> Resources:
        """Return the rest of a limit that counts for it; practically unlimited without a limit, except for devices."""
        limit, has = dict(self._limits_of(execution))[holder], self._reserved_by_holder(holder)
        return Resources(
            _ENDLESS if limit.cores_milli is None else limit.cores_milli - has.cores_milli,
            _ENDLESS if limit.memory_bytes is None else limit.memory_bytes - has.memory_bytes,
            dict.fromkeys(execution.application.core_resources().devices, _ENDLESS),
        )

    def behind(self, holder: LimitSubject) -> Reason:
        """Return the reason if another execution of its tenant or user has waited longer for the rest of the limit."""
        code, subject, possessive = (
            (ReasonCode.TENANT_LIMIT, "its tenant", "the tenant's")
            if holder.user is None
            else (ReasonCode.USER_LIMIT, "its user", "the user's")
        )
        return Reason(
            code,
            (f"Another execution of {subject} is ahead by the policy, and waits for the rest of {possessive} limit."),
            hint="it starts when that execution has started, or earlier if it would not delay it",
        )

    def refusal(self, execution: Execution, holder: LimitSubject, wanted: str = "") -> Reason:
        """Return the reason if the core would exceed the limit of its tenant or user; `wanted`: what is needed instead
        of the core, as the begin of the sentence.
        """
        limit = next(limit for limited, limit in self._limits_of(execution) if limited == holder)
        code, subject, possessive, where = (
            (ReasonCode.TENANT_LIMIT, "the tenant", "the tenant's", "")
            if holder.user is None
            else (ReasonCode.USER_LIMIT, "its user", "the user's", " in this tenant")
        )
        core = execution.application.core_resources()
        ever = not any(_excess_amount(*amount) for amount in _limited_amounts(limit, Resources(), core))
        return Reason(
            code,
            (
                f"{wanted or f'Its essential services need {_text(core)}'}, but {subject} holds "
                f"{_text(self._reserved_by_holder(holder))} of at most {_limit_text(limit)}{where}."
            ),
            hint=f"it starts when enough of {possessive} own services have ended, or an admin raises the limit"
            if ever
            else "it never starts within the limit: ask for less, or ask an admin to raise the limit",
        )

    def _reserved_by_holder(self, holder: LimitSubject) -> Resources:
        return self._held.get(holder, Resources())

    def _limits_of(self, execution: Execution) -> Sequence[tuple[LimitSubject, Limit]]:
        if not self.limited:
            return ()
        key = execution.tenant, execution.user
        known = self._limits.get(key)
        if known is None:
            known = self._limits[key] = limits_of(self._policy, *key)
        return known


def _limited_amounts(limit: Limit, held: Resources, amount: Resources) -> Sequence[tuple[int | None, int, int]]:
    """Yield limited amounts: the maximum, the present amount, and the additional amount."""
    return (
        (limit.cores_milli, held.cores_milli, amount.cores_milli),
        (limit.memory_bytes, held.memory_bytes, amount.memory_bytes),
    )


def _excess_amount(most: int | None, held: int, wanted: int) -> int:
    return 0 if most is None or wanted <= 0 else max(held + wanted - most, 0)


def _text(amount: Resources) -> str:
    return f"{cores(amount.cores_milli)} and {size(amount.memory_bytes)}"


def _limit_text(limit: Limit) -> str:
    amounts = (
        None if limit.cores_milli is None else cores(limit.cores_milli),
        None if limit.memory_bytes is None else size(limit.memory_bytes),
    )
    return " and ".join(text for text in amounts if text)
