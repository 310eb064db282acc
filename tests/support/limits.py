"""Limits in tests: an entry of the policy's documents, and the quota of a tenant."""

from __future__ import annotations

from typing import NamedTuple

from zoe_lib.domain.executions.limits import EVERY, Amounts, Limits, LimitSubject
from zoe_lib.store.base import ExecutionStore


def tenant_limit(
    cores_milli: int | None = None,
    memory_bytes: int | None = None,
    read_bytes_per_s: int | None = None,
    write_bytes_per_s: int | None = None,
) -> Amounts:
    """Return `tenant_limits` of a tenant: unlimited amounts follow no default."""
    rates = {"read_bytes_per_s": read_bytes_per_s, "write_bytes_per_s": write_bytes_per_s}
    return {**user_limit(cores_milli, memory_bytes), **rates}


def user_limit(cores_milli: int | None = None, memory_bytes: int | None = None) -> Amounts:
    """Return `user_limits` of a tenant."""
    return {"cores_milli": cores_milli, "memory_bytes": memory_bytes}


class Quota(NamedTuple):
    """The limits of a tenant that a submission meets."""

    executions_max: int | None = None
    executions_of_user_max: int | None = None
    time_limit_s_max: float | None = None


def set_quota(store: ExecutionStore, tenant: str, quota: Quota) -> None:
    """Set them."""

    def change(limits: Limits) -> Limits:
        of_tenant = {"executions": quota.executions_max, "time_limit_s": quota.time_limit_s_max}
        limits = limits.with_changed_amounts(LimitSubject(tenant), of_tenant)
        return limits.with_changed_amounts(LimitSubject(tenant, EVERY), {"executions": quota.executions_of_user_max})

    store.change_limits(change, 1.0, "test")


def quota_of(store: ExecutionStore, tenant: str) -> Quota:
    """Return the limits in force."""
    limits = store.policy().limits
    of_tenant = limits.for_subject(tenant)
    return Quota(of_tenant.executions, limits.for_subject(tenant, EVERY).executions, of_tenant.time_limit_s)
