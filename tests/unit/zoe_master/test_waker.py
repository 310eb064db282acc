"""The master's waker, woken from threads and from signal handlers."""

from __future__ import annotations

import signal
import threading
import time

from zoe_master.waker import TickWaker


def test_any_number_of_wakes_count_as_one() -> None:
    waker = TickWaker()
    for _ in range(5):
        waker.wake()
    assert waker.wait(0.0)
    assert not waker.wait(0.0)


def test_another_thread_wakes_it() -> None:
    waker = TickWaker()
    threading.Timer(0.05, waker.wake).start()
    assert waker.wait(30.0)


def test_a_signal_in_the_middle_of_a_wait_does_not_lock_it() -> None:
    """Thousands of signals, each of which may interrupt a wait anywhere."""
    waker = TickWaker()
    count = 0

    def wake(*_: object) -> None:
        nonlocal count
        count += 1
        waker.wake()

    previous = signal.signal(signal.SIGALRM, wake)
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    try:
        end_s = time.monotonic() + 30
        while count < 2000 and time.monotonic() < end_s:
            waker.wait(0.001)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert count >= 2000
