"""A gateway before a store that speaks S3 (Swift's own middleware for it), beside a Swift: clients find the same."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.storage.test_gateway import steps, told
from tests.support.gateway import Pair, gateway_before_swift
from tests.support.object_store import Person, logged_in


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with gateway_before_swift(protocol="s3") as both:
        yield both


@pytest.fixture
def ann(pair: Pair) -> Iterator[Person]:
    with logged_in(pair.gateway, "acme:ann") as person:
        yield person


@pytest.fixture
def beta(pair: Pair) -> Iterator[Person]:
    """Bob at the Swift behind, whose account has nothing to do with the gateway."""
    with logged_in(pair.behind, "beta:bob") as person:
        yield person


@pytest.fixture
def name() -> str:
    return f"c-{os.urandom(4).hex()}"


@pytest.mark.parametrize("seed", range(3))
def test_it_answers_as_swift_does(ann: Person, beta: Person, name: str, seed: int) -> None:
    for person in (ann, beta):
        person.put(name)
    for number, (method, path, content, headers) in enumerate(steps(random.Random(seed))):
        quoted = f"{name}/{path}".replace("%", "%25").replace("?", "%3F")
        one, other = (person.call(method, quoted, content=content, headers=headers) for person in (ann, beta))
        if one.status_code == 200 and "," in headers.get("Range", ""):  # S3 sends one range, so all of it is sent
            continue
        assert told(one) == told(other), (number, method, path, headers, one.text[:99], other.text[:99])
        lists = [[{**e, "last_modified": ""} for e in person.listing(name)] for person in (ann, beta)]
        assert lists[0] == lists[1]
    for query in ("prefix=b", "delimiter=/", "limit=1", "marker=b", "reverse=true", "prefix=b/&delimiter=/"):
        lists = [person.call("GET", f"{name}?format=plain&{query}").text for person in (ann, beta)]
        assert lists[0] == lists[1]
