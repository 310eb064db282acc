"""Bounds that one plain user of one tenant fills: no other tenant is stopped (docs/reference/bounds.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.contract.test_store_arrays import array
from zoe_api.services.dependencies import _CHECKS
from zoe_lib.messaging.refusal import Refusal
from zoe_lib.messaging.slow_lane import Places
from zoe_lib.schedules.values import Schedule, StoredApplication
from zoe_lib.store.errors import TooManyArrays, TooManySecrets, TooManyStored, TooManyTargets, TooManyWaiting
from zoe_lib.store.people import MachineSignIn, NotificationTarget, SealedSecret
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.accounts.waiting import WaitingBounds
from zoe_lib.store.sql.batch import arrays

MOST = 3
FILLER, OTHER = ("ada", "red"), ("ben", "blue")


def machine(number: int, network: str) -> MachineSignIn:
    name = f"{network}{number}"
    return MachineSignIn(name, name, "laptop", network, network, frozenset(), None, float(number), number + 600.0)


def test_machines_of_one_network_stop_none_of_another(accounts: AccountStore) -> None:
    for number in range(MOST):
        accounts.ask_for_machine(machine(number, "a"), WaitingBounds(MOST, MOST + 1))
    with pytest.raises(TooManyWaiting):
        accounts.ask_for_machine(machine(MOST, "a"), WaitingBounds(MOST, MOST + 1))
    for number in range(2):  # the second one takes the oldest place of the network that has most
        accounts.ask_for_machine(machine(number + MOST, "b"), WaitingBounds(MOST, MOST + 1))
    assert [accounts.machine_sign_in(code, 5.0) is not None for code in ("a0", "a1", "b3", "b4")] == [
        False, True, True, True
    ]  # fmt: skip


def secret(user: str, tenant: str, number: int) -> SealedSecret:
    return SealedSecret(tenant, user, f"s{number}", b"x", 1, 1.0, user)


def target(user: str, tenant: str, number: int) -> NotificationTarget:
    return NotificationTarget(f"{user}{number}", tenant, user, f"t{number}", "https://x.example/", [], b"x", 1.0, user)


def application(user: str, tenant: str, number: int) -> StoredApplication:
    return StoredApplication(tenant, user, f"a{number}", 1, {}, 1.0, user)


def schedule(user: str, tenant: str, number: int) -> Schedule:
    what: dict[str, Any] = {"application": "a", "version": None, "document": None, "parameters": {}, "options": {}}
    when: dict[str, Any] = {"expression": "@daily", "zone": "UTC", "missed": "skip", "overlap": "skip", "jitter_s": 0.0}
    state: dict[str, Any] = {"end_at_s": None, "held": False, "held_by_operator": False, "due_s": None}
    times: dict[str, Any] = {"next_at_s": None, "planned_at_s": 1.0, "count": 0, "made_at_s": 1.0}
    return Schedule(f"{user}{number}", tenant, user, f"s{number}", **what, **when, **state, **times)


STORED: list[tuple[type[Exception], Callable[[PostgresStore, str, str, int], object]]] = [
    (TooManySecrets, lambda store, *who: store.accounts.set_secret(secret(*who), MOST)),
    (TooManyTargets, lambda store, *who: store.accounts.set_target(target(*who), MOST)),
    (TooManyStored, lambda store, *who: store.schedules.put_application(application(*who), MOST)),
    (TooManyStored, lambda store, *who: store.schedules.put(schedule(*who), MOST)),
]


@pytest.mark.parametrize(("refusal", "keep"), STORED, ids=["secrets", "targets", "applications", "schedules"])
def test_full_bound_of_one_user_does_not_stop_others(
    store: PostgresStore, refusal: type[Exception], keep: Callable[..., object]
) -> None:
    for user, tenant in (FILLER, OTHER, ("eve", "red")):
        store.accounts.ensure_member(user, tenant, "user")
    for number in range(MOST):
        keep(store, *FILLER, number)
    with pytest.raises(refusal):
        keep(store, *FILLER, MOST)
    keep(store, *OTHER, 0)
    keep(store, "eve", "red", 0)  # and no other user of the same tenant


def test_arrays_of_one_tenant_stop_none_of_another(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "OPEN_MAX", MOST)
    for user, tenant in (FILLER, ("ada", "blue")):
        store.accounts.ensure_member(user, tenant, "user")
    for number in range(MOST):
        store.submit_array(array(number), "request")
    with pytest.raises(TooManyArrays):
        store.submit_array(array(MOST), "request")
    store.submit_array(replace(array(MOST + 1), tenant="blue"), "request")


def test_one_user_leaves_places_of_each_kind_of_question_to_others() -> None:
    places = Places()
    for _ in range(_CHECKS.of_asker_max):
        places.take("check", "ada", _CHECKS)
    with pytest.raises(Refusal):
        places.take("check", "ada", _CHECKS)
    places.take("check", "ben", _CHECKS)
