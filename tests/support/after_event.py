"""What an admin relies on, checked after a loss: what was is as before, and everything can be done anew."""

from __future__ import annotations

import time
from typing import Any

import httpx

from tests.support.documents import document, part
from tests.support.people import make_token
from zoe_api.people.sign_in.passwords import hash_password
from zoe_client import Client
from zoe_client.wire import BudgetChange, LimitAmounts
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.use import DAY_S
from zoe_lib.store.postgres.store import PostgresStore

TENANT = "red"
PASSWORD = "correct horse battery staple"
PRICES: dict[str, Any] = {
    "currency": "EUR",
    "digits": 6,
    "from": "2026-01-01",
    "rates": [{"meter": "core_hours", "rate": "1000"}, {"meter": "memory_gib_hours", "rate": "1"}],
}
SHORT = document(part("short", "true", ends_application=True), size={"run_time_s": 5})
"""Ends soon on the local back-end; on a simulated one, `short` must."""
PASSES_MAX = 3
"""Transactions for the sums of a small installation, whatever ids a restore skipped."""


class AdminsDay:
    """Ann's ended execution with its statement, use and budget, and all kinds of settings, as before an event.

    Make it before the event, by an admin of the tenant `red` while a master leads.
    """

    def __init__(self, store: PostgresStore, admin: Client, url: str) -> None:
        self.token = make_token(store, "ann", TENANT)
        store.accounts.set_password("ann", hash_password(PASSWORD))
        make_token(store, "ben", TENANT)
        admin.admin.set_price_list(PRICES, past=True)
        admin.admin.set_budget(BudgetChange(tenant=TENANT, user="ann", amount="1000"))
        admin.admin.set_limit(LimitAmounts(executions=77), TENANT)
        with Client(url, self.token) as ann:
            self.ended = ann.submit(SHORT).id
            assert ann.wait(self.ended, timeout_s=60).state is ExecutionState.SUCCEEDED
        self.before = self._seen(admin)
        assert self.before["statement"]

    def check(self, store: PostgresStore, admin: Client, url: str, promises: bool = True) -> None:
        """Check everything. promises: whether API and master have the same time. At the end, all has been removed."""
        assert self._seen(admin) == self.before
        self._users_sign_in_and_run(url, promises)
        self._settings_change(admin)
        self._sums_are_made_at_once(store)
        self._a_hand_over_leaves_the_past(store, admin)
        self._what_is_old_goes_and_stays_charged(store, admin)

    def _seen(self, admin: Client) -> dict[str, Any]:
        """Return what must not change while Ann runs nothing more, by the API, as of any version."""
        one = admin.execution(self.ended)
        month = time.strftime("%Y-%m", time.gmtime(one.submitted_at_s))
        lines = [line for line in admin.statement(month, TENANT).lines if line.user == "ann"]
        return {
            "execution": (
                one.user,
                one.state,
                one.attempt,
                one.marks,
                [e.kind for e in admin.events(self.ended).events],
            ),
            "statement": [(line.meter, line.quantity, line.rate, line.amount) for line in lines],
            "lists": [entry.document for entry in admin.admin.price_lists().price_lists],
            "budgets": [(b.tenant, b.user, b.amount, b.spent) for b in admin.admin.budgets().budgets],
            "limits": [(limit.tenant, limit.amounts) for limit in admin.admin.limits(TENANT).limits],
            "order": admin.policy().order,
        }

    def _users_sign_in_and_run(self, url: str, promises: bool) -> None:
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
            answer = http.post("/api/v1/session", json={"user": "ann", "password": PASSWORD})
            assert (answer.status_code, answer.json()["user"]) == (200, "ann")
            assert http.get("/api/v1/me").json()["user"] == "ann", "the session counts"
        with Client(url, self.token) as ann:
            assert ann.wait(ann.submit(SHORT).id, timeout_s=60).state is ExecutionState.SUCCEEDED
            if promises:
                one = ann.submit(SHORT, finish_by="+300s", confidence=0.8, budget=100)
                done = ann.wait(one.id, timeout_s=60)
                assert done.deadline is not None
                assert (done.state, done.deadline.status) == (ExecutionState.SUCCEEDED, "met")

    def _settings_change(self, admin: Client) -> None:
        policy = admin.policy()
        changed = admin.set_policy(policy.model_copy(update={"order": "fifo"}))
        assert (admin.policy().order, changed.version) == ("fifo", policy.version + 1)
        admin.set_policy(changed.model_copy(update={"order": policy.order}))
        admin.admin.set_limit(LimitAmounts(executions=5), TENANT, "ann")
        admin.admin.clear_limit(TENANT, "ann")
        later = admin.admin.set_price_list({**PRICES, "from": "2090-01-01"})
        admin.admin.remove_price_list(later.id)
        actions = {entry.action for entry in admin.admin.audit(limit=50).entries}
        assert {"set_policy", "set_limit", "set_price_list", "remove_price_list"} <= actions

    def _sums_are_made_at_once(self, store: PostgresStore) -> None:
        passes = 1
        while store.sum_up():
            passes += 1
        assert passes <= PASSES_MAX

    def _a_hand_over_leaves_the_past(self, store: PostgresStore, admin: Client) -> None:
        charged, used = self._charged(store), self._used(store)
        done = admin.admin.hand_over("ann", "ben", TENANT)
        assert not done.executions_left
        assert store.execution(self.ended).user == "ben"
        assert (self._charged(store), self._used(store)) == (charged, used)

    def _what_is_old_goes_and_stays_charged(self, store: PostgresStore, admin: Client) -> None:
        charged, used = self._charged(store), self._used(store)
        while store.prune(time.time() + 365 * DAY_S):
            pass
        assert [e.id for e in admin.executions(all_tenants=True).executions if e.state in ("succeeded", "failed")] == []
        assert (self._charged(store), self._used(store)) == (charged, used)

    def _charged(self, store: PostgresStore) -> Any:
        return [
            (use.meter, use.units)
            for use in sorted(store.billing.metered(0, 2**62, TENANT), key=lambda use: use.meter)
            if use.user == "ann"
        ]

    def _used(self, store: PostgresStore) -> Any:
        today = int(time.time() // DAY_S)
        found = store.daily_use(today - 1, today + 1, time.time(), TENANT)
        return {key: use for key, use in found.items() if key.user == "ann"}
