"""The same property at a real Swift, and at a gateway before one, for fewer cases: a tenant under rules sees what one
without any sees.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings

from storage_filters.rule_documents import RuleBook, written
from tests.storage.test_filter_host import PATH, get, requests
from tests.storage.test_rules import _keyring, seen
from tests.support.gateway import gateway_before_swift
from tests.support.object_store import Person, logged_in
from tests.support.pusher import Pusher, pushed_store
from zoe_embedded.swift.store import ObjectStore


@contextmanager
def at_swift() -> Iterator[tuple[ObjectStore, ObjectStore, Pusher]]:
    with pushed_store(nodes=1, replicas=1, keyring=_keyring) as (store, pusher):
        yield store, store, pusher


@contextmanager
def at_gateway() -> Iterator[tuple[ObjectStore, ObjectStore, Pusher]]:
    with gateway_before_swift(make=pushed_store, keyring=_keyring) as (pair, pusher):
        yield pair.behind, pair.gateway, pusher


@pytest.fixture(scope="module", params=[at_swift, at_gateway])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Person, Person, Pusher]]:
    """Bob has no rules, Ann has those that are pushed."""
    with (
        request.param() as (plain, ruled, pusher),
        logged_in(plain, "beta:bob") as bob,
        logged_in(ruled, "acme:ann") as ann,
    ):
        for person in (bob, ann):
            person.put("c")
        yield bob, ann, pusher


@given(wanted=requests())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_clients_of_a_real_swift_see_no_difference(
    both: tuple[Person, Person, Pusher], wanted: list[dict[str, Any]]
) -> None:
    bob, ann, pusher = both
    tags: dict[str, str] = {}
    for one in wanted:
        if one["method"] == "RULES":
            pushed(pusher, one["book"])
        elif one["method"] == "LIST":
            lists = [[(e["name"], e["bytes"], e["hash"]) for e in person.listing("c")] for person in (bob, ann)]
            assert lists[0] == lists[1]
        elif "cut" not in one:  # who hangs up is tried by test_rules.py
            plain, behind = (asked(person, one, tags) for person in (bob, ann))
            assert seen(plain) == seen(behind), one
            if one["method"] == "PUT" and plain.is_success:
                tags[one["path"]] = plain.headers["Etag"]
    for name, condition in itertools.product(("a.txt", "b"), ("If-Match", "If-None-Match")):
        one = get(name, {condition: "PRESENT"})
        assert seen(asked(bob, one, tags)) == seen(asked(ann, one, tags)), one
    pushed(pusher, written(RuleBook()))
    for person in (bob, ann):
        for name in ("a.txt", "b"):
            person.call("DELETE", f"c/{name}")


def pushed(pusher: Pusher, rules: dict[str, Any]) -> None:
    """Return when these rules are in force: a message is taken in before the next one."""
    pusher.rules = rules
    pusher.push()
    pusher.push(AUTH_nobody={"get": float(pusher.number + 1)})


def asked(person: Person, one: dict[str, Any], tags: dict[str, str]) -> httpx.Response:
    """Return the answer to a request; a condition that names the present ETag has it."""
    tag = f'"{tags.get(one["path"], "none")}"'
    headers = {name: value.replace("PRESENT", tag) for name, value in one.get("headers", {}).items()}
    content: Any = None
    if one["method"] == "PUT":
        body = base64.b64decode(one["body"])
        content = iter([body]) if one.get("chunked") else body
    return person.call(one["method"], f"c/{Path(one['path'].removeprefix(PATH))}", headers=headers, content=content)
