"""Many clients at once, on a machine so busy that memcached stands still for a while."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.support.long import of_storage
from tests.support.object_store import logged_in
from zoe_embedded.swift.store import ObjectStore

CLIENTS = 64
ROUNDS = 3
PAUSE_S = 1.5


@of_storage
def test_no_request_of_64_clients_fails_while_memcached_has_no_processor(swift: ObjectStore) -> None:
    """Each logs in, makes a container, writes and reads, several times; a pause of memcached costs time alone."""
    began = threading.Event()
    before = len(swift.log_of("proxy"))

    def work(number: int) -> list[str]:
        wrong = []
        for turn in range(ROUNDS):
            try:
                with logged_in(swift, "acme:ann") as person:
                    person.put(f"parallel-{number}")
                    person.put(f"parallel-{number}/{turn}", b"x" * 1000)
                    began.set()
                    answer = person.call("GET", f"parallel-{number}/{turn}")
                    wrong += [] if answer.content == b"x" * 1000 else [f"{answer.status_code}: {answer.text[:80]}"]
            except AssertionError as error:
                wrong.append(str(error)[:80])
        return wrong

    with ThreadPoolExecutor(CLIENTS) as pool:
        working = [pool.submit(work, number) for number in range(CLIENTS)]
        assert began.wait(60)
        memcached = swift.processes["memcached"]
        os.kill(memcached, signal.SIGSTOP)
        try:
            time.sleep(PAUSE_S)
        finally:
            os.kill(memcached, signal.SIGCONT)
        wrong = [story for work_of_one in working for story in work_of_one.result()]
    assert wrong == []
    said = swift.log_of("proxy")[before:]
    assert [line for line in said.splitlines() if "memcached" in line] == []
