"""Sixteen clients that put one question as often as they can.

`python -m tests.support.question_flood URL TOKEN PATH < BODY` prints a line after the first answer,
and after SIGTERM how often it was answered by each status, as JSON.
"""

from __future__ import annotations

import http.client
import json
import signal
import sys
import threading
from collections import Counter
from urllib.parse import urlsplit

CLIENTS = 16


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    url, token, path = sys.argv[1:]
    body, host = sys.stdin.buffer.read(), urlsplit(url).netloc
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    answered, statuses = threading.Event(), Counter[int]()

    def ask() -> None:
        while True:
            connection = http.client.HTTPConnection(host, timeout=120)
            try:
                while True:
                    connection.request("POST", path, body, headers)
                    answer = connection.getresponse()
                    answer.read()
                    statuses[answer.status] += 1
                    answered.set()
            except OSError:
                connection.close()

    for _ in range(CLIENTS):
        threading.Thread(target=ask, daemon=True).start()
    answered.wait()
    print("answered", flush=True)
    signal.sigwait({signal.SIGTERM})
    print(json.dumps(statuses), flush=True)


if __name__ == "__main__":
    main()
