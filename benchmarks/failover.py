"""Time without a leader after the leading master dies or is paused: `python -m benchmarks.failover`.

From the signal until another master has made its first tick, with the programs of a real installation on the local
back-end. A warm standby already runs; a cold one is started with the signal.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import ExitStack, closing
from functools import partial

from benchmarks.support import machine, repeat, tell, temporary_home
from tests.support.installation import Installation
from tests.support.waiting import until
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_lib.messaging.client import MasterClient, MasterUnreachable
from zoe_lib.store.postgres import migrate

RUNS = 5


def main() -> None:
    """Measure and print."""
    print(machine())
    with temporary_home() as home, ExitStack() as exits:
        database = EmbeddedPostgres(home)
        url = database.start()
        exits.callback(database.stop)
        migrate.upgrade(url)
        figures = {
            "a dead leader, warm standby: s": partial(seconds, url, signal.SIGKILL, warm=True),
            "a dead leader, cold standby: s": partial(seconds, url, signal.SIGKILL, warm=False),
            "a paused leader, warm standby: s": partial(seconds, url, signal.SIGSTOP, warm=True),
        }
        tell("until another master leads", repeat(lambda: {name: run() for name, run in figures.items()}, RUNS))


def seconds(url: str, signal_number: signal.Signals, *, warm: bool) -> float:
    """Return the seconds without a leader."""
    with closing(Installation(url, forked=False)) as installation:
        first = start(installation, "first")
        until(lambda: answers(installation, "first"))
        if warm:
            start(installation, "second")
            time.sleep(3)
        began_s = time.monotonic()
        os.kill(first.pid, signal_number)
        if not warm:
            start(installation, "second")
        until(lambda: answers(installation, "second"))
        return time.monotonic() - began_s


def start(installation: Installation, name: str) -> subprocess.Popen[bytes]:
    process = installation.start_master(ZOE_MASTER_NAME=name, ZOE_MASTER_ENDPOINT=endpoint(installation, name))
    assert isinstance(process, subprocess.Popen)
    return process


def endpoint(installation: Installation, name: str) -> str:
    return f"ipc://{installation.secrets}/{name}"


def answers(installation: Installation, name: str) -> bool:
    """Return whether this master leads and has made a tick."""
    with closing(MasterClient(endpoint(installation, name), installation.keys_dir, 0.2, 1)) as client:
        try:
            return bool(client.ask("status").get("ticked_at_s"))
        except MasterUnreachable:
            return False


if __name__ == "__main__":
    main()
