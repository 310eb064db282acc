"""Move a home from the back-end `local` to `docker`: `python -m tests.docker.moving HOME`.

Run inside the network of the engine that DOCKER_HOST names. Prints what stayed as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.docker.kills import job
from tests.support.waiting import until
from zoe_client import Client
from zoe_client.wire import ExecutionView
from zoe_embedded.home import Home
from zoe_embedded.stack import Stack


def main() -> None:
    """Run a job on `local` that writes a file, and one on `docker`, submitted before, that reads it."""
    home = Home(Path(sys.argv[1]), by_root=True)
    with Stack(home, settings={"api_port": 0}, on_demand=True) as stack, Client(stack.url, stack.token) as client:
        first = end_of(client, client.submit(job("id -u > {workspace}/kept")).id)
        later = client.submit(job("test $(cat {workspace}/kept) = $(id -u) && test -e /.dockerenv"), hold=True).id
    settings = {"api_port": 0, "backend": "docker"}
    with Stack(home, settings=settings, on_demand=True) as stack, Client(stack.url, stack.token) as client:
        history = client.execution(first.id).state
        client.release(later)
        told = {"before": first.state, "history": history, "after": end_of(client, later).state}
    print(json.dumps(told))


def end_of(client: Client, execution: str) -> ExecutionView:
    """Return an execution once it has ended."""

    def look() -> ExecutionView | None:
        found = client.execution(execution)
        return found if found.state in ("succeeded", "failed") else None

    found = until(look)
    assert found is not None
    return found


if __name__ == "__main__":
    main()
