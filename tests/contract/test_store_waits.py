"""Executions that wait for the object store, beside the computation over all of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from tests.support.applications import application, component, execution
from tests.support.histories import legal_events
from tests.support.statements import copy_execution, rows_read, statements_of
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.promises import refusal_reason
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.postgres.store import PostgresStore

SEEDS = 2
EXECUTIONS = 60
STEPS = 12
COPIES = 1500
TELLING = (ev.Queued, ev.ReasonChanged, ev.StartPlanned, ev.StorageRefused, ev.Requeued)
CODES = (ReasonCode.STORAGE_BANDWIDTH, ReasonCode.STORAGE_BANDWIDTH, ReasonCode.NO_RESOURCES)


def some_application(chance: random.Random) -> Application:
    parts = [component("master", ends_application=True), component("worker", 1, 3)]
    guarantee = chance.choice([None, Guarantee.PREFERRED, Guarantee.REQUIRED, Guarantee.REQUIRED])
    if guarantee is None:
        return application(*parts)
    return application(*parts, storage=StorageDemand(bandwidth=Bandwidth(300, None, guarantee)))


def some_history(one: Execution, chance: random.Random) -> Iterator[ev.Event]:
    """Legal events, most of them about why it waits."""
    for step in range(chance.randrange(STEPS)):
        legal = list(legal_events(one, at_s=one.submitted_at_s + step + 0.25))
        if not legal:
            return
        telling = [event for event in legal if isinstance(event, TELLING)]
        event = chance.choice(telling if telling and chance.random() < 0.8 else legal)
        if isinstance(event, ev.ReasonChanged):
            event = replace(event, reason=Reason(chance.choice(CODES), f"for {one.id} at step {step}"))
        one = apply(one, event)
        yield event


# -- the computation of before, over all executions -------------------------------------------------------------------
def waiting_of_all(executions: Sequence[Execution], tenant: str | None) -> list[tuple[str, str, str, str]]:
    return [
        (e.id, e.tenant, e.user, reason.sentence)
        for e in executions
        if (reason := e.reason or refusal_reason(e)) is not None
        and reason.code in (ReasonCode.STORAGE_BANDWIDTH, ReasonCode.STORAGE_REFUSED)
        and tenant in (None, e.tenant)
    ]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_they_are_those_of_all_executions(seed: int, any_store: ExecutionStore) -> None:
    chance = random.Random(f"waits {seed}")
    seen: Counter[str] = Counter()
    for number in range(EXECUTIONS):
        owner = {"tenant": chance.choice(["red", "blue"]), "user": chance.choice(["ada", "bob"])}
        one = any_store.submit(execution(number, application=some_application(chance), **owner), "request")
        history = list(some_history(one, chance))
        if history:
            any_store.append(one.id, history, one.version, None)
        active = any_store.active()
        for tenant in (None, "red", "blue", "nobody"):
            found = any_store.waiting_for_store(Visibility(tenant))
            told = [(w.execution_id, w.tenant, w.user, w.sentence) for w in found]
            assert told == waiting_of_all(active, tenant)
            of_ada = any_store.waiting_for_store(Visibility(tenant, "ada"))
            assert [w for w in found if tenant is None or w.user == "ada"] == of_ada
    for wait in any_store.waiting_for_store():
        seen["refused" if "refuses" in wait.sentence else "told"] += 1
    assert min(seen["refused"], seen["told"]) > 0, seen


def test_a_long_queue_costs_neither_services_nor_descriptions(bounded_store: PostgresStore, postgres_url: str) -> None:
    waiting = bounded_store.submit(execution(1), "request")
    copy_execution(postgres_url, waiting.id, COPIES)
    with statements_of(bounded_store) as asked:
        assert bounded_store.waiting_for_store() == []
    assert len(asked) == 2
    assert rows_read(postgres_url, asked) <= 2 * (COPIES + 1) + 20
