"""All of Zoe with a store, as the demos have it: `python -m tests.support.kept_up_site`. For each line of its input it
submits a job that reads from the store, and prints the result.
"""

from __future__ import annotations

import sys

from rich.console import Console

from storage_bridge.model import BandwidthSlo
from tests.support.documents import job
from tests.support.viewed_readings import STORAGE
from zoe_client import Client, ZoeError
from zoe_client.wire import CredentialRequest
from zoe_embedded import stack
from zoe_embedded.demos.data import Dataset
from zoe_embedded.demos.demo import submitted_alone
from zoe_embedded.demos.storage import CONTAINER, RATE, upload
from zoe_embedded.home import Home
from zoe_embedded.processes import keeping
from zoe_embedded.processes.keeping import PATIENCE_S, PartsKeeper
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.site import SERVICE, Site, storage_site
from zoe_embedded.swift.store import StoreError

_ROWS = 6_000


def ran(site: Site, command: list[str]) -> str:
    """Run a command with the demo's input, and return its final state, or the error."""
    console = Console(quiet=True)
    try:
        data = Dataset(site.stack.workspace / "energy-report", site.stack.component_account, _ROWS)
        if not data.complete:
            data.make(lambda _done, _total: None)
        upload(console, site, data.readings, CONTAINER)
        with Client(site.stack.url, site.stack.token, patience_s=PATIENCE_S) as client:
            client.set_storage_credential(SERVICE, CredentialRequest(user=site.user.login, key=site.user.key))
            document = job(*command, storage=STORAGE)
            with submitted_alone(Console(), client, site.stack.home, document) as execution_id:
                return client.wait(execution_id, 120).state.value
    except (StoreError, ZoeError) as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Serve until Ctrl-C, or until the input ends."""
    end_by_keyboard_interrupt()
    setattr(stack, "ensure_runtime", lambda _: None)  # noqa: B010 - the module does not export it
    keeping.REVIVALS_WITHIN_S = 0.0
    console = Console(soft_wrap=True)
    with storage_site(Home.find(CLONE), BandwidthSlo(RATE, RATE)) as site, PartsKeeper(console, site.revive_all):
        print("up", flush=True)
        for line in sys.stdin:
            print(f"{line.strip()}: {ran(site, line.split())}", flush=True)


if __name__ == "__main__":
    main()
