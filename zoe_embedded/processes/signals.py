"""Signals that end programs in a terminal."""

from __future__ import annotations

import signal

# A closed terminal ends everything as Ctrl-C does; by default it would leave the database and services running.
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def end_by_keyboard_interrupt() -> None:
    """Turn the first of these signals into KeyboardInterrupt; ignore the others, so that a second Ctrl-C does not
    interrupt the clean-up.
    """
    for number in _ENDING:
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
