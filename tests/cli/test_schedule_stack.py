"""Schedules against the whole of Zoe, whose master is killed while it makes runs."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.documents import job
from tests.support.ending import cancel_all
from tests.support.waiting import until
from zoe_client import Client
from zoe_client.wire import ScheduleRequest
from zoe_embedded.stack import Stack
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.postgres.store import PostgresStore

COUNT = 40


@pytest.fixture
def client(stack: Stack) -> Iterator[Client]:
    with Client(stack.url, stack.token) as made:
        yield made
        for schedule in made.schedules.all().schedules:
            made.schedules.remove(schedule.name)
        cancel_all(made)


def test_a_master_that_is_killed_loses_no_run_and_repeats_none(stack: Stack, client: Client) -> None:
    request = ScheduleRequest(expression="0 * * * *", document=job("true", name="each"))
    names = [f"each-{number}" for number in range(COUNT)]
    for name in names:
        client.schedules.put(name, request)
    due_s = time.time() // 3600 * 3600
    user, tenant = client.me().user, client.me().tenant
    with closing(PostgresStore(stack.database_url)) as store:
        for name in names:  # the hour that has passed was missed, and is run now
            found = store.schedules.one(tenant, user, name)
            store.schedules.change(found, changed(found, due_s=due_s, next_at_s=due_s))
    until(lambda: any(schedule.last for schedule in client.schedules.all().schedules))
    master = next(pid for name, pid in stack.processes.items() if "master" in name)
    os.kill(master, signal.SIGKILL)
    until(lambda: stack.dead_process() is not None)
    stack.revive()
    until(lambda: all(schedule.last for schedule in client.schedules.all().schedules), 60)
    runs = [client.schedules.one(name).runs for name in names]
    assert [[(run.due_s, run.outcome) for run in entry] for entry in runs] == [[(due_s, "made")]] * COUNT
    made = Counter(execution.id for execution in client.executions(name="each", limit=100).executions)
    assert made == Counter(run.run_id for [run] in runs)
