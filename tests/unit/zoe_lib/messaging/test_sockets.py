"""Without free descriptors a server does not come up, and the process lives."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest
import zmq

from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.messaging.server import Server

SCRIPT = """
import os, resource, sys
from pathlib import Path
import zmq
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.messaging.server import Server
keys = Path(sys.argv[1])
ensure_keys(keys)
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
for spare in range(30):
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + spare, hard))
    try:
        Server("ipc://" + str(keys / "socket"), keys, {}).close()
    except (OSError, zmq.ZMQError):
        continue
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
Server("ipc://" + str(keys / "socket"), keys, {}).close()
print("lives")
"""


REFUSED = 5


def test_a_server_that_gets_no_descriptors_fails_and_does_not_end_the_process(tmp_path: Path) -> None:
    words = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "lives\n"), done.stderr


def test_a_server_whose_endpoint_is_taken_leaves_nothing(tmp_path: Path) -> None:
    ensure_keys(tmp_path)
    with closing(Server("tcp://127.0.0.1:*", tmp_path, {})) as server:
        endpoint = server.endpoint
        refused(endpoint, tmp_path)
        before = held()
        for _ in range(REFUSED):
            refused(endpoint, tmp_path)
        # A thread of another test of this process may begin meanwhile.
        assert all(now - then < REFUSED for now, then in zip(held(), before, strict=True))


def refused(endpoint: str, keys_dir: Path) -> None:
    with pytest.raises(zmq.ZMQError):
        Server(endpoint, keys_dir, {})


def held() -> tuple[int, int]:
    process = psutil.Process()
    return process.num_fds(), process.num_threads()
