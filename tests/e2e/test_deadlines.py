"""A missed deadline is one event of the journal, whatever happens to masters."""

from __future__ import annotations

import os
import signal
import time

from tests.support.documents import job
from tests.support.installation import Installation
from tests.support.waiting import until
from zoe_client import Client
from zoe_client.vocabulary import DeadlineStatus, ExecutionState

LONG = job("sleep", "4000", size={"run_time_s": 4000})


def misses(installation: Installation, execution_id: str) -> list[float]:
    entries = installation.store.journal(0, 1000, execution_id=execution_id)
    return [entry.at_s for entry in entries if entry.kind == "deadline_missed"]


def test_a_master_that_is_killed_at_the_deadline_leaves_one_event(installation: Installation, client: Client) -> None:
    first = installation.start_master(ZOE_MASTER_NAME="first")
    installation.until_leading()
    installation.start_master(ZOE_MASTER_NAME="second")
    ids = [client.submit(LONG, deadline_s=4.0).id for _ in range(8)]
    until(lambda: all(client.execution(one).state is ExecutionState.RUNNING for one in ids))
    deadlines_s = [client.execution(one).deadline_s or 0.0 for one in ids]
    while time.time() < deadlines_s[len(ids) // 2]:  # in the midst of them
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: all(misses(installation, one) for one in ids), lambda: installation.log("master"))
    third = installation.start_master(ZOE_MASTER_NAME="third")
    installation.until_leading(2)
    for one in ids:
        (at_s,) = misses(installation, one)
        assert at_s >= (client.execution(one).deadline_s or 0.0)
        client.cancel(one)
    for one in ids:
        ended = client.wait(one, 60)
        assert ended.deadline is not None
        assert ended.deadline.status is DeadlineStatus.MISSED
        assert len(misses(installation, one)) == 1
    assert installation.stop(third) == 0


def test_a_deadline_that_passes_while_no_master_runs(installation: Installation, client: Client) -> None:
    """An execution that ended in time is not missed, though it is seen later; one that a user cancels after its
    deadline is.
    """
    first = installation.start_master()
    installation.until_leading()
    short = client.submit(job("sleep", "1"), deadline_s=4.0).id
    long = client.submit(LONG, deadline_s=4.0).id
    until(lambda: all(client.execution(one).state is ExecutionState.RUNNING for one in (short, long)))
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: time.time() > (client.execution(long).deadline_s or 0.0) + 1.0, deadline_s=15)
    assert misses(installation, long) == []
    client.cancel(long)
    assert len(misses(installation, long)) == 1, "noted before the cancellation"
    installation.start_master()
    assert client.wait(short, 60).state is ExecutionState.SUCCEEDED
    client.wait(long, 60)
    assert (misses(installation, short), len(misses(installation, long))) == ([], 1)
