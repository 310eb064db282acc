"""Hostile requests: no answer shows what belongs to others, none is a fault, and nothing of others changes.

`python -m tests.hostile --requests 100000 --seed 1` sends more (docs/tests.md).
"""

from __future__ import annotations

from tests.hostile.walk import run
from tests.hostile.world import World
from tests.support.checks import of_checks
from tests.support.postgres import PostgresServer

SEED = 20261129
REQUESTS = of_checks(4, 100_000)


def test_no_hostile_request_finds_a_fault(postgres_server: PostgresServer) -> None:
    print(f"seed {SEED}")
    url = postgres_server.create_database()
    world = World(url)
    try:
        found = run(world, url, REQUESTS, SEED)
    finally:
        world.close()
        postgres_server.drop_database(url)
    assert found.wrong == [], found.table()
    assert len(found.routes) > 100
