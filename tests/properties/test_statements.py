"""Statements of consecutive months add up to what the journal says was held, to the microsecond, and moved, to the
byte.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from tests.support.applications import GIB, application, component, execution
from tests.support.histories import legal_events
from tests.support.postgres import PostgresServer, postgres_server
from zoe_lib.domain.applications.application import Application, same_instances
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.metering import ONE
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, Pushdown, StorageDemand, StorageObject
from zoe_lib.pricing.statement import Line
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import StoreLimits

__all__ = ["postgres_server"]
MONTHS = ("2026-09", "2026-10", "2026-11", "2026-12", "2027-01")
ZONES = ("UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata")
FIRST_S = datetime.fromisoformat("2026-09-03T00:00+00:00").timestamp()
NOW_S = datetime.fromisoformat("2027-01-20T00:00+00:00").timestamp()
RATES = {
    "core_hours": 'tenant.startsWith("t") ? "0.0437" : "9"',
    "memory_gib_hours": "0.00519",
    "device_hours": 'device == "gpu" ? "1.1" : "0"',
    "bandwidth_mb_s_hours": "0.0031",
    "view_hours": "0.25",
    "read_gb": "0.00000031",
    "written_gb": "0.02",
}
# How likely each kind is to come next: such that most executions start, and some end or start again.
WEIGHTS = {
    **dict.fromkeys(("queued", "start_planned", "service_starting", "service_started", "requeued"), 30),
    **dict.fromkeys(("elastic_placed", "storage_granted", "inputs_decided", "service_ended"), 10),
    **dict.fromkeys(("modified", "scaled", "storage_withdrawn", "service_retried", "ended"), 6),
    **dict.fromkeys(("stopping", "service_lost", "service_ready", "storage_transferred", "owner_changed"), 3),
    **dict.fromkeys(("refused", "running"), 1),
}
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def module_store(request: pytest.FixtureRequest) -> Iterator[PostgresStore]:
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database()
    with closing(PostgresStore(url, StoreLimits(retention_s=1000.0))) as store:
        yield store
    server.drop_database(url)


def some_application(chance: Random) -> Application:
    demand = StorageDemand(
        bandwidth=Bandwidth(3 * GIB, None, Guarantee.PREFERRED),
        inputs=(StorageObject(name="a", uri="swift2d://b.zoe/c", pushdown=Pushdown(columns=("d",))),),
    )
    return application(
        component("master", ends_application=True),
        component("worker", 1, 3, startup_order=1, reservation=Resources(1500, GIB, {"gpu": 2, "tpu": 1})),
        storage=demand if chance.random() < 0.5 else None,
    )


def resized(one: Application, name: str, memory: int, gpus: int) -> Application:
    parts = tuple(
        replace(c, reservation=Resources(c.reservation.cores_milli + 1, memory, {"gpu": gpus})) if c.name == name else c
        for c in one.components
    )
    changed = replace(one, components=parts)
    assert same_instances(one, changed)
    return changed


def candidates(one: Execution, at_s: float, chance: Random) -> list[ev.Event]:
    """Return possible next events, with memory that grows, changes of the request, and scaling."""
    memory = GIB + chance.randrange(GIB)
    before = ev.Requested.of_execution(one)
    after = replace(before, application=resized(one.application, "worker", memory, chance.randrange(1, 4)))
    legal = [*legal_events(one, at_s)]
    for extra in (
        ev.Requeued(at_s=at_s, memory_bytes={"worker": memory}),
        ev.Modified(at_s=at_s, before=before, after=after),
        ev.Scaled(at_s=at_s, before={"worker": 3}, total_counts={"worker": chance.randrange(1, 6)}),
    ):
        try:
            apply(one, extra)
        except IllegalTransition:
            continue
        legal.append(extra)
    started = {s.id for s in one.services if s.started_at_s is not None}
    return [
        e
        for e in legal
        if e.kind in WEIGHTS
        and not (isinstance(e, ev.ServiceStarted) and e.service_id in started)
        and not (isinstance(e, ev.ServiceEnded) and e.service_id not in started and chance.random() < 0.8)
    ]


def chosen(legal: Sequence[ev.Event], chance: Random) -> ev.Event:
    """A kind first, since there are many events about services, then one event of it."""
    kinds = sorted({e.kind for e in legal})
    (kind,) = chance.choices(kinds, [WEIGHTS[kind] for kind in kinds])
    return chance.choice([e for e in legal if e.kind == kind])


def run(store: PostgresStore, tenant: str, chance: Random) -> tuple[Execution, Application]:
    number = next(NUMBERS)
    first = some_application(chance)
    submitted_at_s = FIRST_S + chance.random() * 60 * 86400
    one = store.submit(execution(number, tenant=tenant, application=first, submitted_at_s=submitted_at_s), "request")
    at_s, pending, state = one.submitted_at_s, list[ev.Event](), one
    for _ in range(chance.randrange(60)):
        at_s = min(at_s + 10 ** chance.uniform(-5, 5.7), NOW_S - 86400)
        legal = candidates(state, at_s, chance)
        if not legal:
            break
        event = chosen(legal, chance)
        by_user = isinstance(event, ev.Modified | ev.Scaled)
        if pending and by_user:
            one, pending = store.append(one.id, pending, one.version, None), []
        pending.append(event)
        state = apply(state, event)
        # What the master writes together goes up to the next attempt: an end, and the return to the queue after it.
        if by_user or isinstance(event, ev.Requeued) or chance.random() < 0.2:
            one, pending = store.append(one.id, pending, one.version, None), []
    if pending:
        one = store.append(one.id, pending, one.version, None)
    return one, first


# -- from the journal alone -----------------------------------------------------------------------------------------
Held = tuple[int, int | None, Mapping[str, int]]


def us(at_s: float) -> int:
    return round(at_s * 1_000_000)


def stretches(store: PostgresStore, one: Execution, first: Application) -> Iterator[Held]:
    """Yield the intervals and amounts that it held of each meter; moved bytes have no end."""
    end_us = us(NOW_S)
    reserved = {c.name: (c.reservation.cores_milli, c.reservation.memory_bytes, dict(c.reservation.devices))
                for c in first.components}  # fmt: skip
    running: dict[str, tuple[int, Mapping[str, int]]] = {}
    for entry in store.journal(0, 10_000, execution_id=one.id):
        at, data = us(entry.at_s), entry.data
        over: list[str] = []
        if entry.kind == "modified":
            for part in data["after"]["application"]["components"]:  # type: ignore[index]
                amount = part["reservation"]
                reserved[part["name"]] = (amount["cores_milli"], amount["memory_bytes"], amount.get("devices", {}))
        elif entry.kind == "service_started":
            name = str(data["service_id"])
            cores, memory, devices = reserved[name.split(".")[1]]
            kinds = {f"device_hours {kind}": number for kind, number in devices.items()}
            running[name] = (at, {"core_hours ": cores, "memory_gib_hours ": memory, **kinds})
        elif entry.kind in ("service_ended", "service_lost"):
            over = [str(data["service_id"])]
        elif entry.kind == "storage_granted":
            if "grant" in running:
                yield running["grant"][0], at, running["grant"][1]
            rates = [int(data.get(f"{way}_bytes_per_s") or 0) for way in ("read", "write")]  # type: ignore[call-overload]
            running["grant"] = (at, {"bandwidth_mb_s_hours ": sum(rates)})
        elif entry.kind == "storage_withdrawn":
            over = ["grant"]
        elif entry.kind == "inputs_decided":
            if "views" in running:
                yield running["views"][0], at, running["views"][1]
            views = sum(bool(i.get("view")) for i in data["inputs"])  # type: ignore[attr-defined]
            if one.application.storage is not None:
                running["views"] = (at, {"view_hours ": views})
        elif entry.kind == "storage_transferred":
            moved = data["transfers"]
            yield at, None, {"read_gb ": moved["read_bytes"], "written_gb ": moved["written_bytes"]}  # type: ignore[index]
        elif entry.kind in ("requeued", "ended"):
            over = ["grant", "views"]
            for name, memory in data.get("memory_bytes", {}).items():  # type: ignore[attr-defined]
                reserved[name] = (reserved[name][0], memory, reserved[name][2])
        for name in over:
            if name in running:
                began, amounts = running.pop(name)
                yield began, at, amounts
    for began, amounts in running.values():
        yield began, end_us, amounts


def by_owner(store: PostgresStore, one: Execution, found: Iterable[Held]) -> Iterator[tuple[str, int, int | None, Any]]:
    """Split what was held where the owner changed."""
    changes = [entry for entry in store.journal(0, 10_000, execution_id=one.id) if entry.kind == "owner_changed"]
    since, owners = -(2**62), list[tuple[str, int, int]]()
    for entry in changes:
        owners.append((str(entry.data["former"]), since, us(entry.at_s)))
        since = us(entry.at_s)
    owners.append((one.user, since, 2**62))
    for began, ended, amounts in found:
        for user, since, until in owners:
            if ended is None and since <= began < until:
                yield user, began, None, amounts
            elif ended is not None and max(began, since) < min(ended, until):
                yield user, max(began, since), min(ended, until), amounts


def held(found: Sequence[Held], from_us: int, to_us: int) -> Counter[str]:
    total: Counter[str] = Counter()
    for began, ended, amounts in found:
        lasted = int(from_us <= began < to_us) if ended is None else min(ended, to_us) - max(began, from_us)
        for name, amount in amounts.items():
            if lasted > 0 and amount > 0:
                total[name] += lasted * amount
    return total


def first_moment(month: str, zone: str) -> int:
    return us(datetime.fromisoformat(f"{month}-01").replace(tzinfo=ZoneInfo(zone)).timestamp())


# --------------------------------------------------------------------------------------------------------------------
def set_lists(store: PostgresStore, zone: str, chance: Random) -> list[int]:
    """Price lists from before the first month, and at moments within months; return where they begin."""
    store.database.write(lambda c: c.execute(text("DELETE FROM price_lists")))
    begins = [FIRST_S - 86400 * 40, *(FIRST_S + chance.random() * 110 * 86400 for _ in range(chance.randrange(3)))]
    for number, at_s in enumerate(sorted(begins)):
        document = {
            "currency": "EUR",
            "zone": zone,
            "from": datetime.fromtimestamp(int(at_s), ZoneInfo("UTC")).isoformat(),
            "rates": [
                {"meter": name, "rate": rate if number == 0 else str(Decimal("0.013") * number)}
                for name, rate in RATES.items()
            ],
        }
        store.billing.set_price_list(document, 0.0, "root")
    return [int(at_s) * 1_000_000 for at_s in sorted(begins)]


def charged(lines: Sequence[Line]) -> Counter[str]:
    total: Counter[str] = Counter()
    for line in lines:
        total[f"{line.meter.value} {line.device}"] += line.units
    return total


@settings(
    max_examples=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a shorter walk is another walk
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 2**32), zone=st.sampled_from(ZONES))
def test_months_add_up_to_the_journal(module_store: PostgresStore, seed: int, zone: str) -> None:
    chance = Random(seed)  # of hypothesis's own, walks are seldom long
    store, tenant = module_store, f"t{next(NUMBERS)}"
    begins = set_lists(store, zone, chance)
    done = [run(store, tenant, chance) for _ in range(chance.randrange(1, 4))]
    of_users: dict[str, list[Held]] = defaultdict(list)
    for ended, first in done:
        for user, *part in by_owner(store, ended, stretches(store, ended, first)):
            of_users[user].append(tuple(part))
    borders = [first_moment(month, zone) for month in (*MONTHS, "2027-02")]
    statements = [store.billing.statement(month, NOW_S, tenant) for month in MONTHS]
    for (from_us, to_us), statement in zip(itertools.pairwise(borders), statements, strict=True):
        assert (statement.month.from_us, statement.month.to_us) == (from_us, to_us)
        assert statement.gaps == ()
        for user, found in of_users.items():
            mine = statement.for_user(user).lines
            assert charged(mine) == held(found, from_us, min(to_us, us(NOW_S)))
            for line in mine:
                # Each line lies between two changes of prices, and contains the use of that time.
                assert not any(line.from_us < at < line.to_us for at in begins)
                part = held(found, line.from_us, line.to_us)
                assert part[f"{line.meter.value} {line.device}"] == line.units
                assert line.rate is not None
                exact = Fraction(line.units) * Fraction(line.rate) / ONE[line.meter]
                assert line.amount == Decimal(round(exact * 100)).scaleb(-2)  # half to even
    whole = sum((held(found, borders[0], us(NOW_S)) for found in of_users.values()), Counter())
    assert sum((charged(statement.lines) for statement in statements), Counter()) == whole
    while store.prune(NOW_S + 2000.0):
        pass
    assert [store.billing.statement(month, NOW_S, tenant).lines for month in MONTHS] == [
        tuple(replace(line, unused=None) for line in statement.lines) for statement in statements
    ]
