"""Tenants, users and prices of the playground."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from zoe_api.people.sign_in.passwords import hash_password
from zoe_client import Client
from zoe_client.wire import BudgetChange, LimitAmounts
from zoe_embedded.home import Home, write_private
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.people import Token
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.tokens.api_tokens import TokenText

_PASSWORD_BYTES = 12
SKY, SHOP = "sky", "shop"


@dataclass(frozen=True, slots=True)
class Person:
    """A user of the playground, in one tenant."""

    name: str
    tenant: str
    role: str = "user"

    @property
    def scopes(self) -> frozenset[str]:
        """Return the scopes of the user's token."""
        operates = {Scope.OPERATE.value} if self.role == "operator" else set()
        return frozenset({Scope.READ.value, Scope.SUBMIT.value} | operates)


PEOPLE = (
    Person("vera", SKY, "operator"),
    Person("edwin", SKY),
    Person("annie", SKY),
    Person("grace", SHOP, "operator"),
    Person("tony", SHOP),
    Person("mary", SHOP),
)
BY_NAME = {person.name: person for person in PEOPLE}


def password(home: Home, person: Person) -> str:
    """Return the person's password, the same at each start."""
    path = home.secrets / f"password-{person.name}"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(_PASSWORD_BYTES))
    return path.read_text()


def token(home: Home, person: Person) -> str:
    """Return the person's token, the same at each start."""
    path = home.secrets / f"token-{person.name}"
    if not path.exists():
        write_private(path, str(TokenText.new()))
    return path.read_text()


def add_people(home: Home, store: PostgresStore, now_s: float) -> None:
    """Create tenants and users, with passwords and tokens."""
    for person in PEOPLE:
        store.accounts.ensure_member(person.name, person.tenant, person.role)
        store.accounts.set_password(person.name, hash_password(password(home, person)))
        text = TokenText.read(token(home, person))
        assert text is not None
        store.accounts.add_token(
            Token(text.id, person.name, person.tenant, text.secret_hash, person.scopes, now_s, None, "playground")
        )


def set_terms(admin: Client, from_s: float) -> None:
    """Set prices from the month of `from_s` on, budgets, and limits by which some executions wait."""
    if not admin.admin.price_lists().price_lists:
        admin.admin.set_price_list(_prices(from_s), past=True)
    admin.admin.set_budget(BudgetChange(tenant=SKY, amount="16"))
    admin.admin.set_budget(BudgetChange(tenant=SHOP, amount="9"))
    admin.admin.set_limit(LimitAmounts(cores_milli=4000), tenant=SHOP)


def _prices(from_s: float) -> dict[str, Any]:
    month = datetime.fromtimestamp(from_s, UTC).strftime("%Y-%m-01")
    rates = {"core_hours": "0.05", "memory_gib_hours": "0.005", "bandwidth_mb_s_hours": "0.001", "read_gb": "0.002"}
    return {
        "currency": "EUR",
        "from": month,
        "rates": [{"meter": meter, "rate": rate} for meter, rate in rates.items()],
        "discounts": [{"name": "volume", "when": "subtotal > 10.0", "percent": "10"}],
    }
