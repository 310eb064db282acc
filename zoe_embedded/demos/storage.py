"""`make demo-storage`: the energy report from a real OpenStack Swift, with and without pushdown, on Zoe.

With `STORE=ceph` or `STORE=seaweedfs`, the report reads from that store, through a gateway.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
from rich.console import Console

from storage_bridge.model import BandwidthSlo
from zoe_client import Client, ZoeError
from zoe_client.wire import CredentialRequest, StoreQueryView
from zoe_embedded.ceph.store import CephError
from zoe_embedded.demos.data import ROWS, Dataset
from zoe_embedded.demos.demo import follow, prepare, submitted_alone
from zoe_embedded.demos.given_settings import add_option
from zoe_embedded.demos.preparing import NotReadyError, prepare_home
from zoe_embedded.home import Home, HomeError
from zoe_embedded.postgres import EmbeddedPostgresError
from zoe_embedded.processes.keeping import PATIENCE_S, PartsKeeper
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.runtimes.interpreters import RuntimeBuildError
from zoe_embedded.runtimes.jars import JarError
from zoe_embedded.runtimes.needs import MEMCACHED
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.seaweedfs.store import SeaweedError
from zoe_embedded.stack import StackError
from zoe_embedded.swift.behind import BEHIND
from zoe_embedded.swift.site import SERVICE, Site, storage_site
from zoe_embedded.swift.store import StoreError
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.tokens.api_tokens import FIRST_TENANT

RATE = 20_000_000
"""Bytes per second that the demo's store can guarantee: the speed of a laptop's network, not of its memory."""
CONTAINER, PREFIX, REGION_SHOWN = "energy", "readings", "Bretagne"
SWIFT = "swift"
"""The store without a gateway."""
_NAMES = {SWIFT: "OpenStack Swift", "ceph": "Ceph behind a gateway", "seaweedfs": "SeaweedFS behind a gateway"}
FAILURES = (
    StoreError,
    CephError,
    SeaweedError,
    StackError,
    HomeError,
    JarError,
    RuntimeBuildError,
    EmbeddedPostgresError,
    NotReadyError,
    ZoeError,
)
_LAST_LINE = re.compile(r"bytes plain=(\d+) pushdown=(\d+)")


def main() -> int:
    """Run the demo; return 0 only if the result is right and pushdown read less."""
    parser = argparse.ArgumentParser(prog="demo-storage", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="readings in the store")
    parser.add_argument("--store", choices=(SWIFT, *BEHIND), default=SWIFT, help="others are behind a gateway")
    add_option(parser)
    arguments = parser.parse_args()
    console = Console(soft_wrap=True)
    end_by_keyboard_interrupt()
    began_s = time.monotonic()
    try:
        home, settings = prepare_home(arguments.settings, programs=[MEMCACHED])
        console.print(f"[bold]1[/bold] Start {_NAMES[arguments.store]}, PostgreSQL, master, API and storage controller")
        with _site(home, arguments.store, settings) as site, PartsKeeper(console, site.revive_all) as kept:
            console.print(f"  up at {site.stack.url} after {time.monotonic() - began_s:.1f} s; data in {home.path}")
            last = _run(console, site, arguments.rows)
            if last is None:
                kept.say_again()
    except FAILURES as error:
        console.print(str(error), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("Interrupted; everything was stopped.")
        return 130
    console.print(f"Took {time.monotonic() - began_s:.1f} s in all.")
    if last is None:
        return 1
    print(last, flush=True)
    return 0


@contextmanager
def _site(home: Home, store: str, settings: Mapping[str, object]) -> Iterator[Site]:
    """Start all of Zoe with that store."""
    with ExitStack() as undo:
        behind = None
        if store != SWIFT:
            secret = home.create().secret(f"gateway-{store}")
            behind = undo.enter_context(BEHIND[store](home, [FIRST_TENANT], secret))
        yield undo.enter_context(storage_site(home, BandwidthSlo(RATE, RATE), settings, behind=behind))


def _run(console: Console, site: Site, rows: int) -> str | None:
    """Return the last line of the application's output; None if the run failed."""
    console.print("[bold]2[/bold] Copy smart-meter readings into the store")
    data = Dataset(site.stack.workspace / "energy-report", site.stack.component_account, rows)
    prepare(console, data)
    upload(console, site, data.readings, CONTAINER)
    console.print("[bold]3[/bold] Submit app_descriptions/energy-report-swift.json and follow it")
    document = json.loads((CLONE / "app_descriptions" / "energy-report-swift.json").read_text())
    with Client(site.stack.url, site.stack.token, patience_s=PATIENCE_S) as client:
        client.set_storage_credential(SERVICE, CredentialRequest(user=site.user.login, key=site.user.key))
        with submitted_alone(console, client, site.stack.home, document) as execution_id:
            execution = follow(console, client, execution_id)
            queries = client.execution(execution_id).queries
        driver = next(service for service in execution.services if service.component == "driver")
        output = base64.b64decode(client.logs(execution.id, driver.id, limit=1 << 20).data).decode(errors="replace")
    console.print("[bold]4[/bold] What its queries read, and its output")
    if execution.state is not ExecutionState.SUCCEEDED:
        console.print(f"[red]The application ended as {execution.state.value}: {execution.message}[/red]")
        console.print(output[-4000:], markup=False)
        return None
    results = [line for line in output.splitlines() if line.startswith(("seconds ", "bytes "))]
    for line in [*map(_query_line, queries), *results]:
        console.print(f"  {line}", markup=False)
    return results[-1] if _judge(console, data, results[-1]) else None


def _query_line(query: StoreQueryView) -> str:
    plainly = "".join(f"; plainly for {why}" for why in query.plainly)
    read = f"{query.read_bytes / 1e6:.2f} of {query.object_bytes / 1e6:.2f} MB read from the store"
    return f"query {query.number}: {read}{plainly}"


def upload(console: Console, site: Site, directory: Path, container: str) -> None:
    """Upload CSV files as the tenant's user; skip objects that exist with the same size. Raises StoreError."""
    try:
        sent = _upload_files(site, directory, container)
    except httpx.HTTPError as error:
        raise StoreError(f"the store does not take the readings: {error}; run this again") from None
    console.print(f"  {sent / 1e6:.0f} MB sent to swift2d://{container}.{SERVICE}/{PREFIX}")


def _upload_files(site: Site, directory: Path, container: str) -> int:
    """Return the number of sent bytes."""
    with httpx.Client(timeout=120, trust_env=False) as http:
        login = {"X-Auth-User": site.user.login, "X-Auth-Key": site.user.key}
        answer = http.get(site.store.auth_url, headers=login).raise_for_status()
        root, http.headers["X-Auth-Token"] = answer.headers["X-Storage-Url"], answer.headers["X-Auth-Token"]
        http.put(f"{root}/{container}").raise_for_status()
        listed = http.get(f"{root}/{container}?format=json").raise_for_status().json()
        there = {entry["name"]: entry["bytes"] for entry in listed}
        sent = 0
        for path in _parts(directory):
            name = f"{PREFIX}/{path.name}"
            if there.pop(name, None) != path.stat().st_size:
                http.put(f"{root}/{container}/{name}", content=path.read_bytes()).raise_for_status()
                sent += path.stat().st_size
        for name in there:
            http.delete(f"{root}/{container}/{name}").raise_for_status()
    return sent


def _parts(directory: Path) -> Iterator[Path]:
    yield from sorted(directory.glob("*.csv"))


def _judge(console: Console, data: Dataset, last: str) -> bool:
    """Return whether the answer is right, and pushdown read less."""
    found = _LAST_LINE.fullmatch(last)
    expected = [row for row in data.expected_rows() if row["region"] == REGION_SHOWN]
    if data.result("swift") != expected:
        console.print("[red]The answer differs from the one computed without Spark.[/red]")
        return False
    console.print(f"[green]The answer is right[/green]: {len(expected)} rows equal those computed without Spark.")
    if found is None or not 0 < int(found[2]) < int(found[1]):
        console.print("[red]Pushdown did not read less.[/red]")
        return False
    console.print(f"Pushdown read {int(found[1]) / int(found[2]):.0f} times fewer bytes.")
    return True


if __name__ == "__main__":
    sys.exit(main())
