"""Make ZeroMQ contexts safely near the limit of descriptors.

The library ends the process when it cannot start its threads for lack of descriptors; later failures only raise errors.
So its threads are started while descriptors are surely free.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

import zmq

_DESCRIPTORS = 24
"""More than a context needs for its threads and first sockets."""


def new_context() -> zmq.Context[zmq.Socket[bytes]]:
    """Return a context with running threads. Raises OSError if too few files may be opened."""
    with ExitStack() as exits:
        for _ in range(_DESCRIPTORS):
            exits.callback(os.close, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.socket(zmq.PAIR).close(linger=0)
    return context
