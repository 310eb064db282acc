"""A short run of `make test-chaos`."""

from __future__ import annotations

from contextlib import closing

from tests.chaos.harness import run
from tests.chaos.history import violations
from tests.chaos.local_world import LocalWorld
from tests.support.postgres import PostgresServer

KILLS, SECONDS, SEED = 30, 60.0, 7


def test_thirty_kills_break_no_promise(postgres_server: PostgresServer) -> None:
    with closing(run(postgres_server, SEED, KILLS, SECONDS, print, LocalWorld(small_disk=False))) as chaos:
        history = chaos.history()
        assert violations(history) == []
        assert chaos.kills.total() >= KILLS / 2
        assert len(history.acknowledged) > KILLS / 2
