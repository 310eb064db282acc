"""storage: bandwidth of the object store by tenant, credentials and rules."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from zoe_cli.commands.storage import controllers as storage_controllers
from zoe_cli.commands.storage import cores as storage_cores
from zoe_cli.commands.storage import credentials
from zoe_cli.commands.storage import filters as storage_filters
from zoe_cli.commands.storage import history as storage_history
from zoe_cli.commands.storage import metrics as storage_metrics
from zoe_cli.commands.storage import nodes as storage_nodes
from zoe_cli.commands.storage import policies as storage_policies
from zoe_cli.commands.storage import slos as storage_slos
from zoe_cli.commands.storage import top as storage_top
from zoe_cli.context import options
from zoe_cli.lazy_group import PlainGroup
from zoe_cli.output import Format, emit, note, table, write
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import clock, rate
from zoe_client import Client
from zoe_client.quick.plain import Execution
from zoe_client.vocabulary import Mark
from zoe_client.wire import BandwidthView, StorageView

app = typer.Typer(help="The object store: bandwidth, requests, credentials and rules.", no_args_is_help=True)
app.add_typer(credentials.app, name="credentials", cls=PlainGroup)
app.add_typer(storage_policies.app, name="policy", cls=PlainGroup)
app.add_typer(storage_filters.app, name="filter", cls=PlainGroup)
app.add_typer(storage_slos.app, name="slo", cls=PlainGroup)
app.add_typer(storage_cores.app, name="cores", cls=PlainGroup)
app.add_typer(storage_metrics.app, name="metric", cls=PlainGroup)
add(app, "why", storage_policies.why, ("zoe storage why docs/report.txt",))
add(app, "history", storage_history.history, ("zoe storage history", "zoe storage history EXECUTION"))
add(app, "top", storage_top.top, ("zoe storage top", "zoe storage top --by proxy --watch"))
add(
    app,
    "controllers",
    storage_controllers.controllers,
    ("zoe storage controllers", "zoe storage controllers rule-7 --mode on"),
)
add(app, "nodes", storage_nodes.nodes, ("zoe storage nodes", "zoe storage nodes -o json"))
add(app, "restart", storage_nodes.restart, ("zoe storage restart object-1",))
_LABEL_WIDTH = 12


def status(context: typer.Context) -> None:
    """Show capacity, grants, achieved and missed bandwidth, and waiting executions; only operators see other
    tenants.
    """
    form = options(context).output
    with options(context).client() as client:
        answer = client.storage()
    tenants = Rows(
        ("tenant", "granted", "achieved", "missed"),
        [
            (t.tenant, *(_known_rates_text(rates) for rates in (t.granted, t.achieved, t.missed)))
            for t in answer.tenants
        ],
    )
    if form is not Format.TABLE:
        emit(answer, form, tenants)
        return
    if not answer.configured:
        note("There is no storage controller: no bandwidth is guaranteed.")
        return
    write("".join(f"{label:<{_LABEL_WIDTH}}{printable(text)}\n" for label, text in _facts(answer)))
    if answer.tenants:
        write("\n" + table(tenants))
    if answer.executions:
        moved = [
            (e.execution_id, e.tenant, e.user, rates_text(e.granted), rates_text(e.achieved)) for e in answer.executions
        ]
        write("\n" + table(Rows(("execution", "tenant", "user", "granted", "achieved"), moved)))
    for warning in answer.warnings:
        note(f"warning: {warning}")
    for caveat in answer.caveats:
        note(f"note: {caveat.sentence}")
    if answer.waiting:
        rows = [(w.execution_id, w.tenant, w.user, w.sentence) for w in answer.waiting]
        write("\n" + table(Rows(("waits", "tenant", "user", "why"), rows)))


add(app, "status", status, ("zoe storage status", "zoe storage status -o json"))


def bandwidth_of(client: Client, execution: Execution) -> Iterator[tuple[str, str]]:
    """Return the bandwidth granted to an execution that asks for some, and the bandwidth of its tenant."""
    wanted = execution["description"]["storage"]["bandwidth"]
    demand = ", ".join(f"{rate(wanted[way])} to {way}" for way in ("read", "write") if wanted.get(way))
    yield "bandwidth", f"{demand} {_grant_text(execution)}"
    answer = client.storage()
    for entry in answer.executions:
        if entry.execution_id == execution["id"]:
            yield "achieved", f"{rates_text(entry.achieved)} by this execution"
            return
    rates = {tenant.tenant: tenant for tenant in answer.tenants}.get(execution["tenant"])
    if rates is not None:
        subject = (
            f"{rates_text(rates.achieved)} by"
            if rates.achieved is not None
            else "not reported by the storage controller, of"
        )
        yield "achieved", f"{subject} all of {execution['tenant']}, who are granted {rates_text(rates.granted)}"


def _grant_text(execution: Execution) -> str:
    if Mark.STORAGE_GRANTED in execution["marks"]:
        return "granted"
    since = " any more" if Mark.STORAGE_WITHDRAWN in execution["marks"] else ""
    why = f": {execution['storage_problem']}" if execution["storage_problem"] else ""
    return f"not granted{since}{why}"


def rates_text(rates: BandwidthView) -> str:
    """Return both directions as text."""
    return f"{rate(rates.read_bytes_per_s)} read, {rate(rates.write_bytes_per_s)} write"


def _known_rates_text(rates: BandwidthView | None) -> str:
    return rates_text(rates) if rates is not None else "not told"


def _facts(answer: StorageView) -> Iterator[tuple[str, str]]:
    resting = "; the master pauses its polls for some seconds" if answer.resting else ""
    yield "controller", (answer.problem or "answers") + resting
    if answer.capacity is not None:
        yield "capacity", rates_text(answer.capacity)
    if answer.promised is not None:
        yield "promised", rates_text(answer.promised)
    if answer.at_s:
        yield "as of", clock(answer.at_s)
