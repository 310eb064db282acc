"""Refuse changes of a policy that name nothing, or that mean something else than an admin expects. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType

from zoe_client.documents.diagnostics import pointer
from zoe_client.vocabulary import SECONDS_MAX
from zoe_client.wire import Diagnostic, PolicyView
from zoe_client.wire.cluster.policy import WEIGHT_MAX
from zoe_client.wire.people.people import TIME_LIMIT_S_MAX
from zoe_lib.domain.executions.limits import EVERY
from zoe_lib.domain.values.frozen import value

_BY_TENANT = ("tenant_shares", "tenant_limits", "user_limits", "priorities_max")
_NAMED_MAX = 5
# Of numbers without a bound in the wire model, which must be able to show what is in force.
_MOST: Mapping[str, float] = MappingProxyType(
    {
        "default_time_limit_s": TIME_LIMIT_S_MAX,
        "ageing_s": SECONDS_MAX,
        "usage_half_life_s": SECONDS_MAX,
        "idle_after_s": SECONDS_MAX,
        "idle_warning_s": SECONDS_MAX,
        "fair_share_age_weight": WEIGHT_MAX,
    }
)


@value(frozen=True, slots=True)
class Installed:
    """The names that a policy may use: `is_user` tells whether a user exists; `nodes` are those observed so far."""

    tenants: Collection[str]
    nodes: Collection[str]
    is_user: Callable[[str], bool]


def mistakes(wanted: PolicyView, present: PolicyView, there: Installed, now_s: float) -> Iterator[Diagnostic]:
    """Yield the mistakes among the values that change; what is in force stays possible."""
    for field in _BY_TENANT:
        for name in getattr(wanted, field).keys() - getattr(present, field).keys() - {EVERY}:
            tenant, _, user = name.partition("/")
            if tenant not in there.tenants and tenant != EVERY:
                text = f"tenant {tenant} does not exist; {_known(there.tenants)}"
                yield _diagnostic((field, name), "unknown", text)
            elif user and not there.is_user(user):
                yield _diagnostic((field, name), "unknown", f"user {user} does not exist")
    for field, most in _MOST.items():
        if getattr(wanted, field) > most and getattr(wanted, field) != getattr(present, field):
            yield _diagnostic((field,), "too_high", f"{getattr(wanted, field):g} is above the maximum of {most:.0f}")
    yield from _limits_of_nothing(wanted, present)
    yield from _holds(wanted, present, there, now_s)


def _limits_of_nothing(wanted: PolicyView, present: PolicyView) -> Iterator[Diagnostic]:
    for field in ("tenant_limits", "user_limits"):
        for name, limit in getattr(wanted, field).items():
            before = getattr(present, field).get(name)
            for amount in ("cores_milli", "memory_bytes"):
                if getattr(limit, amount) == 0 and (before is None or getattr(before, amount) != 0):
                    text = "a limit of 0 lets nothing run; leave it out, or give null, for no limit"
                    yield _diagnostic((field, name, amount), "too_low", text)


def _holds(wanted: PolicyView, present: PolicyView, there: Installed, now_s: float) -> Iterator[Diagnostic]:
    held = {name: [hold, *present.node_windows.get(name, ())] for name, hold in present.node_holds.items()}
    held |= {name: [*held.get(name, ()), *windows] for name, windows in present.node_windows.items()}
    known = {*held, *there.nodes}
    for field in ("node_holds", "node_windows"):
        for name in getattr(wanted, field):
            if there.nodes and name not in known:
                yield _diagnostic((field, name), "unknown", f"node {name} does not exist; {_known(there.nodes)}")
    found = [("node_holds", name, hold) for name, hold in wanted.node_holds.items()]
    found += [("node_windows", name, hold) for name, windows in wanted.node_windows.items() for hold in windows]
    for field, name, hold in found:
        if hold in held.get(name, ()):
            continue
        if hold.tenant is not None and hold.tenant not in there.tenants:
            text = f"tenant {hold.tenant} does not exist; {_known(there.tenants)}"
            yield _diagnostic((field, name), "unknown", text)
        if hold.until_s is not None and hold.until_s <= now_s:
            yield _diagnostic((field, name), "too_low", f"the hold of node {name} has ended before now")


def _known(names: Collection[str]) -> str:
    shown = sorted(names)[:_NAMED_MAX]
    return f"known: {', '.join(shown)}{', ...' if len(names) > len(shown) else ''}"


def _diagnostic(path: tuple[str, ...], code: str, message: str) -> Diagnostic:
    return Diagnostic(pointer=pointer("body", *path), code=code, message=message)
