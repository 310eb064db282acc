"""Fixtures that any test may ask for."""

import signal

from tests.support.postgres import postgres_server, postgres_url, store
from tests.support.stores import any_store, open_store, unreachable_store

__all__ = ["any_store", "open_store", "postgres_server", "postgres_url", "store", "unreachable_store"]

# A shell ignores Ctrl-C for what it starts in the background, and so would all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
