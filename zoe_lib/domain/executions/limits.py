"""Limits: the maximum that a tenant, or a user in it, may have at the same time, and the amount in use."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, fields
from typing import NamedTuple

from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution
from zoe_lib.domain.executions.promises import Rates, required_rates
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.domain.values.resources import Resources, total

EVERY = "*"
"""All tenants, or all users of a tenant, without their own limit."""
# `*` is not a valid name of a tenant.
_OF = "/"

Amounts = Mapping[str, int | float | None]
"""Amounts that are set for a subject, by field of `Limit`: None is unlimited; a missing amount follows the default."""
ByName = Mapping[str, Amounts]
"""Limits of tenants by name; of users by tenant, for each of its users, or by `tenant/user`."""


@value(frozen=True, slots=True)
class Limit:
    """The maximum that a subject may have; None is unlimited.

    executions: waiting and running ones; time_limit_s: the longest time limit of an execution; cores_milli,
    memory_bytes: reserved by running services; read_bytes_per_s, write_bytes_per_s: guaranteed bandwidth of the object
    store.
    """

    executions: int | None = None
    time_limit_s: float | None = None
    cores_milli: int | None = None
    memory_bytes: int | None = None
    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None


_UNLIMITED = Limit()
AMOUNTS = tuple(field.name for field in fields(Limit))
AMOUNTS_OF_USERS = ("executions", "cores_milli", "memory_bytes")
# Fields of documents of the policy about a tenant, and about each of its users.
POLICY_OF_TENANTS = ("cores_milli", "memory_bytes", "read_bytes_per_s", "write_bytes_per_s")
POLICY_OF_USERS = ("cores_milli", "memory_bytes")
# A limit on each single execution, so it cannot be used up.
NOT_METERED = frozenset({"time_limit_s"})


class LimitSubject(NamedTuple):
    """The subject of a limit: a tenant, or a user in it; `*` is the default for all others."""

    tenant: str = EVERY
    user: str | None = None


@value(frozen=True, slots=True)
class Limits:
    """All limits of an installation.

    default_time_limit_s: of executions that are submitted without a time limit; 0: none.
    """

    tenants: ByName = field(default_factory=dict)
    users: ByName = field(default_factory=dict)
    default_time_limit_s: float = 0.0

    def for_subject(self, tenant: str, user: str | None = None) -> Limit:
        """Return the limit of a tenant or a user: each amount is its own, or that of the nearest default."""
        where, key = self._place(LimitSubject(tenant, user))
        if not where:
            return _UNLIMITED
        return Limit(**_with_defaults(where, key))  # type: ignore[arg-type]  # as checked when they were set

    def default_time_limit_of(self, tenant: str) -> float | None:
        """Return the time limit of a tenant's executions without one: the default, at most the longest possible."""
        longest_s, default_s = self.for_subject(tenant).time_limit_s, self.default_time_limit_s
        return min(default_s, longest_s or default_s) if default_s else longest_s

    def can_delay_executions(self) -> bool:
        """Return whether any limit may make executions wait; the others refuse submissions."""
        some = (*self.tenants.values(), *self.users.values())
        return any(not own.keys().isdisjoint(POLICY_OF_TENANTS) for own in some)

    def own_amounts(self, subject: LimitSubject) -> Amounts:
        """Return the amounts set for the subject itself."""
        where, key = self._place(subject)
        return where.get(key, {})

    def subjects(self) -> Iterator[LimitSubject]:
        """Return the subjects with limits of their own."""
        yield from (LimitSubject(tenant) for tenant in sorted(self.tenants))
        for key in sorted(self.users):
            tenant, _, user = key.partition(_OF)
            yield LimitSubject(tenant, user or EVERY)

    def with_amounts(self, subject: LimitSubject, amounts: Amounts) -> Limits:
        """Return the limits with exactly these amounts of the subject."""
        where, key = self._place(subject)
        rest = {text: set_there for text, set_there in where.items() if text != key}
        new = {**rest, key: dict(amounts)} if amounts else rest
        return changed(self, tenants=new) if subject.user is None else changed(self, users=new)

    def with_changed_amounts(self, subject: LimitSubject, amounts: Amounts) -> Limits:
        """Return the limits with these amounts of the subject; its other amounts stay."""
        return self.with_amounts(subject, {**self.own_amounts(subject), **amounts})

    def without_amounts(self, subject: LimitSubject, names: Collection[str] = AMOUNTS) -> Limits:
        """Return the limits without these amounts of the subject, which follow the default again."""
        return self.with_amounts(
            subject, {name: most for name, most in self.own_amounts(subject).items() if name not in names}
        )

    def _place(self, subject: LimitSubject) -> tuple[ByName, str]:
        return (self.tenants if subject.user is None else self.users), _key(subject)


def limits_of_subjects(some: Iterable[tuple[LimitSubject, Amounts]]) -> Limits:
    """Return the limits with these amounts of each subject."""
    tenants: dict[str, Amounts] = {}
    users: dict[str, Amounts] = {}
    for subject, amounts in some:
        (tenants if subject.user is None else users)[_key(subject)] = amounts
    return Limits(tenants, users)


def _key(subject: LimitSubject) -> str:
    return subject.tenant if subject.user in (None, EVERY) else f"{subject.tenant}{_OF}{subject.user}"


def _with_defaults(where: ByName, key: str) -> Amounts:
    tenant = key.partition(_OF)[0]
    return {**where.get(EVERY, {}), **where.get(tenant, {}), **where.get(key, {})}


def matches_no_subject(key: str, of_users: bool) -> bool:
    """Return whether a key in the limits of tenants, or of users, can match no tenant or user."""
    tenant, slash, user = key.partition(_OF)
    if not of_users or not slash:
        return not tenant or bool(slash)
    return tenant in ("", EVERY) or user in ("", EVERY)


def to_policy_document(where: ByName, names: Collection[str]) -> ByName:
    """Return the limits of tenants, or of users, in the form of policy documents: each entry is complete."""
    return {key: _entry(where, key, names) for key, own in where.items() if not own.keys().isdisjoint(names)}


def _entry(where: ByName, key: str, names: Collection[str]) -> Amounts:
    holds = _with_defaults(where, key)
    return {name: holds.get(name) for name in names}


def from_policy_document(where: ByName, document: ByName, names: Collection[str]) -> ByName:
    """Return the limits with the changes of a policy document: `to_policy_document` then returns that document, and
    other amounts
    stay.

    An entry that the document does not change is kept, so that it still follows the default.
    """
    limits: dict[str, Amounts] = {}
    for key in sorted({*where, *document}, key=lambda entry: (entry != EVERY, entry.count(_OF), entry)):
        own, entry = where.get(key, {}), document.get(key)
        before = None if own.keys().isdisjoint(names) else _entry({**limits, key: own}, key, names)
        if entry != before:
            own = {**{name: most for name, most in own.items() if name not in names}, **(entry or {})}
        if own:
            limits[key] = own
    return limits


def reserved_resources(execution: Execution) -> Resources:
    """Return the reservations of an execution's services on nodes, as limits count them."""
    services = (service for service in execution.services if service.node is not None and service.alive)
    return total(execution.component_of(service).reservation for service in services)


def use_by_subject(executions: Iterable[Execution]) -> Mapping[LimitSubject, Mapping[str, int]]:
    """Return the use of each tenant and of each user in it, by the fields of `Limit`; ended executions do not count."""
    found: dict[LimitSubject, Counter[str]] = defaultdict(Counter)
    for execution in executions:
        amounts = _used_by(execution)
        for subject in (LimitSubject(execution.tenant), LimitSubject(execution.tenant, execution.user)):
            found[subject].update(amounts)
    return found


def _used_by(execution: Execution) -> Mapping[str, int]:
    there = reserved_resources(execution)
    rates = (required_rates(execution.application) if execution.state in ACTIVE_STATES else None) or Rates()
    return {
        "executions": 1,
        "cores_milli": there.cores_milli,
        "memory_bytes": there.memory_bytes,
        "read_bytes_per_s": rates.read,
        "write_bytes_per_s": rates.write,
    }
