"""Shared by the contract tests of stores: opening a store, and events that any fresh execution can take."""

from __future__ import annotations

from collections.abc import Callable

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.store.base import ExecutionStore

OpenStore = Callable[[], ExecutionStore]


def queued(at_s: float = 2.0) -> ev.Event:
    return ev.Queued(at_s=at_s, cause_id="tick")


def refused(at_s: float = 3.0) -> ev.Event:
    return ev.Refused(at_s=at_s, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
