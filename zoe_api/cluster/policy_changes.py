"""Refuse changes of a policy that name nothing, or that mean something else than an admin expects. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from zoe_client.documents.diagnostics import pointer
from zoe_client.wire import Diagnostic, PolicyView
from zoe_lib.domain.executions.limits import EVERY

_BY_TENANT = ("tenant_shares", "tenant_limits", "user_limits", "priorities_max")
_NAMED_MAX = 5


def mistakes(
    wanted: PolicyView, present: PolicyView, tenants: Collection[str], nodes: Collection[str]
) -> Iterator[Diagnostic]:
    """Yield the mistakes among the values that change; what is in force stays possible. nodes: those that the master
    has observed.
    """
    for field in _BY_TENANT:
        for name in getattr(wanted, field).keys() - getattr(present, field).keys() - {EVERY}:
            if name.partition("/")[0] not in tenants and name.partition("/")[0] != EVERY:
                yield _diagnostic((field, name), "unknown", f"tenant {name} does not exist; {_known(tenants)}")
    yield from _limits_of_nothing(wanted, present)
    yield from _holds(wanted, present, tenants, nodes)


def _limits_of_nothing(wanted: PolicyView, present: PolicyView) -> Iterator[Diagnostic]:
    for field in ("tenant_limits", "user_limits"):
        for name, limit in getattr(wanted, field).items():
            before = getattr(present, field).get(name)
            for amount in ("cores_milli", "memory_bytes"):
                if getattr(limit, amount) == 0 and (before is None or getattr(before, amount) != 0):
                    text = f"{amount} of 0 lets nothing run; leave it out, or give null, for no limit"
                    yield _diagnostic((field, name, amount), "too_low", text)


def _holds(
    wanted: PolicyView, present: PolicyView, tenants: Collection[str], nodes: Collection[str]
) -> Iterator[Diagnostic]:
    there = {name: [hold, *present.node_windows.get(name, ())] for name, hold in present.node_holds.items()}
    known = {*there, *present.node_windows, *nodes}
    found = [("node_holds", name, hold) for name, hold in wanted.node_holds.items()]
    found += [("node_windows", name, hold) for name, windows in wanted.node_windows.items() for hold in windows]
    for field, name, hold in found:
        if nodes and name not in known:
            yield _diagnostic((field, name), "unknown", f"there is no node {name}; {_known(nodes)}")
        if hold.tenant is not None and hold.tenant not in tenants and hold not in there.get(name, ()):
            yield _diagnostic((field, name), "unknown", f"tenant {hold.tenant} does not exist; {_known(tenants)}")


def _known(names: Collection[str]) -> str:
    shown = sorted(names)[:_NAMED_MAX]
    return f"known: {', '.join(shown)}{', ...' if len(names) > len(shown) else ''}"


def _diagnostic(path: tuple[str, ...], code: str, message: str) -> Diagnostic:
    return Diagnostic(pointer=pointer("body", *path), code=code, message=message)
