"""Properties of all limits: documents contain them, meters count the journal, each amount has its own default."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support.applications import application, execution
from tests.support.histories import history
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.limits import (
    AMOUNTS,
    EVERY,
    POLICY_OF_TENANTS,
    POLICY_OF_USERS,
    Amounts,
    ByName,
    Limit,
    Limits,
    LimitSubject,
    from_policy_document,
    to_policy_document,
    use_by_subject,
)
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import JournalEntry

TENANTS, USERS = ("red", "blue", "gone"), ("ada", "eve")
KEYS = {
    POLICY_OF_TENANTS: (EVERY, *TENANTS),
    POLICY_OF_USERS: (EVERY, "red", "blue", "red/ada", "blue/ada", "green/eve"),
}


def set_amounts(chance: random.Random, names: Iterable[str]) -> Amounts:
    return {name: chance.choice([None, 1, 2]) for name in names if chance.random() < 0.5}


@pytest.mark.parametrize("names", KEYS)
def test_a_document_shows_what_was_put_in_force_and_changes_nothing_else(names: tuple[str, ...]) -> None:
    for seed in range(2000):
        chance = random.Random(seed)
        where = {key: own for key in KEYS[names] if (own := set_amounts(chance, AMOUNTS)) and chance.random() < 0.7}
        document = {key: {name: chance.choice([None, 1, 2]) for name in names} for key in chance.sample(KEYS[names], 3)}
        for key, entry in to_policy_document(where, names).items():
            if chance.random() < 0.5:
                document[key] = dict(entry)
        after = from_policy_document(where, document, names)
        assert to_policy_document(after, names) == document, seed
        assert others(after, names) == others(where, names), seed
        assert from_policy_document(where, to_policy_document(where, names), names) == where, seed
        assert from_policy_document(after, document, names) == after, seed


def others(where: ByName, names: tuple[str, ...]) -> ByName:
    left = {key: {name: most for name, most in own.items() if name not in names} for key, own in where.items()}
    return {key: own for key, own in left.items() if own}


def test_each_amount_is_the_narrowest_that_says_it() -> None:
    for seed in range(500):
        chance = random.Random(seed)
        limits = Limits()
        asked: dict[LimitSubject, Amounts] = {}
        for _ in range(12):
            subject = LimitSubject(chance.choice([EVERY, *TENANTS]), chance.choice([None, EVERY, *USERS]))
            if chance.random() < 0.2:
                limits, asked[subject] = limits.without_amounts(subject), {}
            else:
                amounts = set_amounts(chance, AMOUNTS)
                limits, asked[subject] = (
                    limits.with_changed_amounts(subject, amounts),
                    {**asked.get(subject, {}), **amounts},
                )
        assert {subject: dict(limits.own_amounts(subject)) for subject in limits.subjects()} == {
            k: v for k, v in asked.items() if v
        }
        for tenant in TENANTS:
            of_user = [LimitSubject(tenant, "ada"), LimitSubject(tenant, EVERY), LimitSubject(EVERY, EVERY)]
            assert limits.for_subject(tenant, "ada") == first_of(asked, of_user)
            assert limits.for_subject(tenant) == first_of(asked, [LimitSubject(tenant), LimitSubject()])


def first_of(asked: Mapping[LimitSubject, Amounts], subjects: list[LimitSubject]) -> Limit:
    said = {name: [asked[subject][name] for subject in subjects if name in asked.get(subject, {})] for name in AMOUNTS}
    return Limit(**{name: some[0] for name, some in said.items() if some})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(150))
def test_meters_are_what_the_journal_counts(seed: int) -> None:
    chance = random.Random(seed)
    with closing(MemoryStore()) as store:
        known = {}
        for number in range(1, 7):
            fresh = replace(
                execution(number),
                tenant=chance.choice(TENANTS),
                user=chance.choice(USERS),
                application=application(storage=storage(chance)),
            )
            known[fresh.id] = store.submit(fresh, "request")
        for entry in known.values():
            present = entry
            for event in history(entry, chance.randint(0, 12), chance.randrange):
                present = store.append(entry.id, [event], present.version, None)
        stored = {entry: store.execution(entry) for entry in known}
        assert {subject: +has for subject, has in counted(store.journal(0, 10_000), stored).items() if +has} == {
            subject: +Counter(has) for subject, has in use_by_subject(store.active()).items()
        }


def storage(chance: random.Random) -> StorageDemand | None:
    wish = Bandwidth(chance.choice([10, 20]), chance.choice([None, 5]), chance.choice(list(Guarantee)))
    return chance.choice([None, StorageDemand(bandwidth=wish)])


def counted(
    journal: Iterable[JournalEntry], stored: Mapping[ExecutionId, Execution]
) -> dict[LimitSubject, Counter[str]]:
    """By kinds of entries alone; what one service, and one execution, takes is read from the application."""
    there: dict[ExecutionId, set[str]] = {}
    started: set[ExecutionId] = set()
    for entry in journal:
        assert entry.execution_id is not None
        if entry.kind == "submitted":
            there[entry.execution_id] = set()
        elif entry.kind in ("ended", "refused"):
            del there[entry.execution_id]
        elif entry.kind in ("start_planned", "elastic_placed"):
            there[entry.execution_id] |= {item["service_id"] for item in entry.data["placements"]}  # type: ignore[attr-defined]
            started.add(entry.execution_id)
        elif entry.kind in ("service_ended", "service_lost"):
            there[entry.execution_id].discard(str(entry.data["service_id"]))
        elif entry.kind == "requeued":
            started.discard(entry.execution_id)
    found: dict[LimitSubject, Counter[str]] = defaultdict(Counter)
    for execution_id, services in there.items():
        one = stored[execution_id]
        kinds = {service.id: one.component_of(service).reservation for service in one.services}
        amounts = Counter(
            executions=1,
            cores_milli=sum(kinds[service].cores_milli for service in services),
            memory_bytes=sum(kinds[service].memory_bytes for service in services),
        )
        wish = one.application.storage.bandwidth if one.application.storage is not None else None
        if wish is not None and wish.guarantee is Guarantee.REQUIRED and execution_id in started:
            amounts.update(
                read_bytes_per_s=wish.read_bytes_per_s or 0,
                write_bytes_per_s=wish.write_bytes_per_s or 0,
            )
        for subject in (LimitSubject(one.tenant), LimitSubject(one.tenant, one.user)):
            found[subject].update(amounts)
    return found
