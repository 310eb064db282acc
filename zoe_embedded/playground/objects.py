"""Objects of the playground's store, and its policy."""

from __future__ import annotations

import random
from collections.abc import Iterator

import httpx

from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.home import Home
from zoe_embedded.playground.people import SHOP, SKY
from zoe_embedded.swift.configuration import StoreUser
from zoe_embedded.swift.site import SERVICE, Site

CONTAINERS = {SKY: "observations", SHOP: "receipts"}
"""The container of each tenant."""
OBJECTS, _ROWS = 6, 4000
POLICY = f"FOR TENANT {SHOP} DO SET COMPRESSION"


def store_users(home: Home) -> list[StoreUser]:
    """Return the store's users, one for each tenant."""
    return [StoreUser(tenant, tenant, home.secret(f"swift-{tenant}")) for tenant in CONTAINERS]


def fill_store(site: Site, admin: Client, users: list[StoreUser]) -> None:
    """Set the policy, give each tenant its credential and upload its objects. Raises HTTPError."""
    if not admin.storage_rules().rules:
        admin.add_storage_rules(POLICY)
    for user in users:
        credential = CredentialRequest(user=user.login, key=user.key)
        admin.set_storage_credential(SERVICE, credential, tenant=user.account)
        _upload(site.store.auth_url, user, CONTAINERS[user.account])


def _upload(auth_url: str, user: StoreUser, container: str) -> None:
    with httpx.Client(timeout=60, trust_env=False) as http:
        login = {"X-Auth-User": user.login, "X-Auth-Key": user.key}
        answer = http.get(auth_url, headers=login).raise_for_status()
        root, http.headers["X-Auth-Token"] = answer.headers["X-Storage-Url"], answer.headers["X-Auth-Token"]
        http.put(f"{root}/{container}").raise_for_status()
        for name, content in _files(container):
            http.put(f"{root}/{container}/{name}", content=content).raise_for_status()


def _files(container: str) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(container)
    for month in range(1, OBJECTS + 1):
        rows = (f"{row},{chance.choice('abcd')},{chance.uniform(0, 100):.2f}" for row in range(_ROWS))
        yield f"2026/{month:02}.csv", "\n".join(["id,kind,value", *rows, ""]).encode()
