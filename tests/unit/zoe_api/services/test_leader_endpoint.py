"""The endpoint of the master."""

from __future__ import annotations

from tests.support.manual_clock import ManualClock
from zoe_api.services.leader_endpoint import LeaderEndpoint
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.values import Leader


class Database:
    def __init__(self) -> None:
        self.clock = ManualClock(0.0)
        self.reads = 0
        self.leader: Leader | None = None
        self.away = False

    def read(self) -> Leader | None:
        self.reads += 1
        if self.away:
            raise StoreUnavailable("away")
        return self.leader


def test_the_leader_is_read_at_most_once_a_second_and_kept_while_the_database_is_away() -> None:
    database = Database()
    endpoint = LeaderEndpoint(database.read, "tcp://default:1", database.clock)
    assert endpoint() == "tcp://default:1"
    database.leader = Leader(7, "first", "tcp://first:1", 0)
    assert [endpoint() for _ in range(10_000)] == ["tcp://default:1"] * 10_000
    assert database.reads == 1
    database.clock.advance(1)
    assert endpoint() == "tcp://first:1"
    database.away = True
    database.clock.advance(1)
    assert endpoint() == "tcp://first:1"
    database.away, database.leader = False, Leader(8, "second", "", 0)
    database.clock.advance(1)
    assert endpoint() == "tcp://default:1"
    assert database.reads == 4
