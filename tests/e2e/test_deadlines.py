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
    until(lambda: all(client.execution(id_).state is ExecutionState.RUNNING for id_ in ids))
    deadlines_s = [client.execution(id_).deadline_s or 0.0 for id_ in ids]
    while time.time() < deadlines_s[len(ids) // 2]:  # in the midst of them
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: all(misses(installation, id_) for id_ in ids), lambda: installation.log("master"))
    third = installation.start_master(ZOE_MASTER_NAME="third")
    installation.until_leading(2)
    for id_ in ids:
        (at_s,) = misses(installation, id_)
        assert at_s >= (client.execution(id_).deadline_s or 0.0)
        client.cancel(id_)
    for text in ids:
        ended = client.wait(text, 60)
        assert ended.deadline is not None
        assert ended.deadline.status is DeadlineStatus.MISSED
        assert len(misses(installation, text)) == 1
    assert installation.stop(third) == 0


def test_a_deadline_that_passes_while_no_master_runs(installation: Installation, client: Client) -> None:
    """An execution that ended in time is not missed, though it is seen later; one that a user cancels after its
    deadline is.
    """
    first = installation.start_master()
    installation.until_leading()
    short = client.submit(job("sleep", "1"), deadline_s=4.0).id
    long = client.submit(LONG, deadline_s=4.0).id
    until(lambda: all(client.execution(text).state is ExecutionState.RUNNING for text in (short, long)))
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: time.time() > (client.execution(long).deadline_s or 0.0) + 1.0, deadline_s=15)
    assert misses(installation, long) == []
    client.cancel(long)
    assert len(misses(installation, long)) == 1, "noted before the cancellation"
    installation.start_master()
    assert client.wait(short, 60).state is ExecutionState.SUCCEEDED
    client.wait(long, 60)
    assert (misses(installation, short), len(misses(installation, long))) == ([], 1)
