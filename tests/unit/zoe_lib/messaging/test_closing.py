"""A client that is closed while other threads wait: they get an error, and the process continues."""

from __future__ import annotations

import subprocess
import sys

# In a process of its own: libzmq would end this one.
PROGRAM = """
import sys, threading
from pathlib import Path
from zoe_lib.messaging.client import MasterClient, MasterUnreachable
from zoe_lib.messaging.keys import ensure_keys

keys = Path(sys.argv[1])
ensure_keys(keys)

def ask(client, told):
    try:
        while True:
            try:
                client.hint()
                client.ask("status")
            except MasterUnreachable:
                if client._closed:
                    told.append(True)
                    return
    except BaseException as error:
        told.append(error)

for round in range(30):
    client, told = MasterClient(f"ipc://{keys}/nobody", keys, 0.002, 2), []
    threads = [threading.Thread(target=ask, args=(client, told)) for _ in range(6)]
    for thread in threads:
        thread.start()
    threading.Event().wait(0.02)
    client.close()
    for thread in threads:
        thread.join(20)
    assert told == [True] * 6, told
print("sound")
"""


def test_threads_that_ask_while_it_is_closed_are_told(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "sound\n"), done.stderr
