"""Hostile requests: no answer shows other users' data, none causes a fault, and no other user's data changes.

`python -m tests.hostile --requests 100000 --seed 1` sends more, and `python -m tests.hostile.breaking` breaks more off
(docs/build/tests.md).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.hostile.breaking import api_door
from tests.hostile.walk import run
from tests.hostile.world import World
from tests.support.checks import of_checks
from tests.support.postgres import PostgresServer

SEED = 20261129
REQUESTS = of_checks(4, 100_000)
BROKEN_OFF = of_checks(1, 10_000) // 5


@pytest.fixture(scope="module")
def url(postgres_server: PostgresServer) -> Iterator[str]:
    made = postgres_server.create_database()
    yield made
    postgres_server.drop_database(made)


@pytest.fixture(scope="module")
def world(url: str) -> Iterator[World]:
    made = World(url)
    yield made
    made.close()


def test_no_hostile_request_finds_a_fault(world: World, url: str) -> None:
    print(f"seed {SEED}")
    found = run(world, url, REQUESTS, SEED)
    assert found.wrong == [], found.table()
    assert len(found.routes) > 100


def test_requests_and_answers_that_break_off_leave_no_error_in_the_log(world: World) -> None:
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    with api_door(SEED, world) as door:
        for _ in range(BROKEN_OFF):
            door.ask(chance)
        world.api.http(None).get("/healthz").raise_for_status()
        door.look()
    assert door.wrong == []
    assert door.lines_by_second.total() <= 2 * BROKEN_OFF  # its answer, and one trouble
