"""The clock of a master jumps by an hour, forward and back: nothing waits for the clock to come right again."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.chaos.clocks import Clocks, find_library
from tests.support.after_event import AdminsDay
from tests.support.documents import job
from tests.support.installation import Installation
from tests.support.postgres import connect
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState

HOUR_S = 3600


@pytest.fixture
def library() -> Path:
    library = find_library()
    if library is None:
        pytest.skip("missing package: libfaketime")
    return library


@pytest.mark.parametrize(
    ("seconds", "killed"), [(-HOUR_S, False), (HOUR_S, True)], ids=["back", "ahead, and it is killed"]
)
def test_work_and_samples_go_on_when_the_clock_jumps(
    installation: Installation,
    client: Client,
    postgres_url: str,
    library: Path,
    tmp_path: Path,
    seconds: int,
    killed: bool,
) -> None:
    clocks = Clocks(library, tmp_path)
    installation.forked = False
    master = installation.start_master(ZOE_USAGE_INTERVAL_S="0.2", **clocks.preloaded("master"))
    day = AdminsDay(installation.store, client, client.url)
    running = client.submit(job("sleep", "600")).id
    until(lambda: client.execution(running).state is ExecutionState.RUNNING, lambda: installation.log("master"))
    until(lambda: samples(postgres_url) > 0)
    clocks.jump("master", seconds)
    if killed:
        master.kill()
        installation.start_master(ZOE_USAGE_INTERVAL_S="0.2", **clocks.preloaded("master"))
    until(lambda: wrong_by(client, seconds), lambda: installation.log("master"))
    before = newest_sample(postgres_url)
    until(lambda: newest_sample(postgres_url) != before, lambda: installation.log("master"))
    assert client.wait(client.submit(job("true")).id, 60).state is ExecutionState.SUCCEEDED
    client.cancel(running)
    assert client.wait(running, 60).state is ExecutionState.CANCELLED
    day.check(installation.store, client, client.url, promises=False)


def wrong_by(client: Client, seconds: int) -> bool:
    """Whether the master's entries have its new time."""
    execution_id = client.submit(job("true")).id
    client.wait(execution_id, 60)
    [queued_s] = [event.at_s for event in client.events(execution_id).events if event.kind == "queued"]
    return abs(queued_s - time.time() - seconds) < HOUR_S / 2


def samples(url: str) -> int:
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM usage_samples")
        return int(cursor.fetchone()[0])  # type: ignore[index]


def newest_sample(url: str) -> float:
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM usage_samples")
        return float(cursor.fetchone()[0])  # type: ignore[index]
