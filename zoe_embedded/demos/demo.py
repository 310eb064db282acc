"""`make demo`: a real Spark application on Zoe, with its result checked against one computed without Spark."""

from __future__ import annotations

import argparse
import base64
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from zoe_client import Client, Refused, ZoeError
from zoe_client.wire import ExecutionView
from zoe_embedded.demos.data import ROWS, Dataset
from zoe_embedded.demos.given_settings import add_option
from zoe_embedded.demos.movement import LOOK_EVERY_S, STALLED_AFTER_S, Movement, signs_of
from zoe_embedded.demos.preparing import NotReadyError, prepare_home
from zoe_embedded.home import Home, HomeError
from zoe_embedded.postgres import EmbeddedPostgresError
from zoe_embedded.processes.keeping import PATIENCE_S, PartsKeeper
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.runtimes.interpreters import RuntimeBuildError
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.stack import Stack, StackError
from zoe_lib.domain.executions.execution import ACTIVE_STATES, TERMINAL_STATES, ExecutionState, Mark

_REFRESH_S = 0.25
_CORES_BESIDE = 0.6
"""Cores of the demo's master and driver, with a margin."""
_STATE_STYLES = {"ready": "green", "ended": "dim", "starting": "yellow", "created": "dim", "stopping": "magenta"}


def main() -> int:
    """Run the demo; return 0 only if the result is right."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"readings to make [{ROWS}]")
    add_option(parser)
    arguments = parser.parse_args()
    console = Console()
    end_by_keyboard_interrupt()
    began_s = time.monotonic()
    try:
        home, settings = prepare_home(arguments.settings)
        console.print("[bold]1[/bold] Start PostgreSQL, master and API on loopback")
        with Stack(home, settings=settings) as stack, PartsKeeper(console, stack.revive) as kept:
            console.print(f"  up at {stack.url} after {time.monotonic() - began_s:.1f} s; data in {home.path}")
            right = _run(console, stack, arguments.rows)
            if not right:
                kept.say_again()
    except (StackError, HomeError, RuntimeBuildError, EmbeddedPostgresError, NotReadyError, ZoeError) as error:
        console.print(str(error), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("Interrupted; everything was stopped.")
        return 130
    console.print(f"Took {time.monotonic() - began_s:.1f} s in all.")
    return 0 if right else 1


def _run(console: Console, stack: Stack, rows: int) -> bool:
    console.print("[bold]2[/bold] Put smart-meter readings into the workspace")
    data = Dataset(stack.workspace / "energy-report", stack.component_account, rows)
    prepare(console, data)
    console.print("[bold]3[/bold] Submit app_descriptions/energy-report.json and follow it")
    document = json.loads((CLONE / "app_descriptions" / "energy-report.json").read_text())
    with Client(stack.url, stack.token, patience_s=PATIENCE_S) as client:
        for text in fit(document, max((node.cores for node in client.nodes().nodes), default=0)):
            console.print(f"  {text}")
        with submitted_alone(console, client, stack.home, document) as execution_id:
            execution = follow(console, client, execution_id)
        _timeline(console, execution)
        if execution.state is not ExecutionState.SUCCEEDED:
            _failure(console, client, execution)
            return False
    return judge(console, data, execution.id)


@contextmanager
def submitted_alone(console: Console, client: Client, home: Home, document: dict[str, Any]) -> Iterator[str]:
    """Submit a demo's application, and yield its id. Cancel the execution of a killed demo first, which would hold
    cores and write the same result.
    """
    left = home.state / "demo-execution"
    if left.exists():
        with suppress(Refused):  # it may be gone, or have ended
            client.cancel(left.read_text())
            console.print("  cancelled the execution of an earlier demo that did not end")
    execution_id = client.submit(document).id
    left.write_text(execution_id)
    yield execution_id
    left.unlink()


def fit(document: dict[str, Any], cores: float) -> list[str]:
    """Make the worker smaller if no node has room for it beside master and driver; return the changes."""
    parameters = document["frameworks"][0]["parameters"]
    fitting = max(0.1, round(cores - _CORES_BESIDE, 1))
    if fitting >= parameters["worker_cores"]:
        return []
    parameters["worker_cores"] = fitting
    return [f"the worker gets {fitting:g} cores, since the largest node has {cores:g}"]


def prepare(console: Console, data: Dataset) -> None:
    """Make sure that the readings are in the workspace."""
    if data.complete:
        console.print(f"  {data.rows:,} rows are already there")
        data.forget_result()
        return
    columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("making rows", total=data.rows)
        data.make(lambda done, _total: progress.update(task, completed=done))
    console.print("  computed the expected answer without Spark")


def follow(console: Console, client: Client, execution_id: str) -> ExecutionView:
    """Show the execution live until it ends. Raises ZoeError without progress for STALLED_AFTER_S."""
    with Live(console=console, refresh_per_second=8, transient=not console.is_terminal) as live:
        return until_it_ends(client, execution_id, lambda execution: live.update(_picture(execution)))


def until_it_ends(client: Client, execution_id: str, show: Callable[[ExecutionView], None]) -> ExecutionView:
    """Return the ended execution. Raises ZoeError without progress for STALLED_AFTER_S."""
    moving, look_s = Movement(time.monotonic()), time.monotonic()
    while True:
        execution = client.execution(execution_id)
        show(execution)
        if execution.state in TERMINAL_STATES:
            return execution
        if (now_s := time.monotonic()) >= look_s:
            look_s = now_s + LOOK_EVERY_S
            if moving.stalled_s(now_s, signs_of(client, execution, moving.last_signs)) > STALLED_AFTER_S:
                client.cancel(execution_id)
                raise ZoeError(_stalled_message(execution))
        time.sleep(_REFRESH_S)


def _stalled_message(execution: ExecutionView) -> str:
    why = f": {execution.reason.sentence}" if execution.reason else ""
    return (
        f"{execution.id} was {execution.state.value} for {STALLED_AFTER_S:g} s without output, use of the processor or "
        f"another state, so it was cancelled{why}"
    )


def _picture(execution: ExecutionView) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for column in ("  service", "", "state", "node"):
        table.add_column(column)
    for service in execution.services:
        style = _STATE_STYLES.get(service.state.value, "")
        role = "essential" if service.core else "elastic"
        state = Text(service.state.value, style) if service.node else Text("waiting for room", "dim")
        table.add_row(f"  {service.name}", role, state, service.node or "-")
    waited_s = time.time() - execution.submitted_at_s
    head = Text(f"  {execution.name} ({execution.id}): {execution.state.value}, {waited_s:.1f} s", "bold")
    why = Text(f"  {execution.reason.sentence}", "yellow") if execution.reason else Text("")
    slower = [Text(f"  {text}", "yellow") for text in slower_ways(execution)]
    return Group(head, table, why, *slower)


def slower_ways(execution: ExecutionView) -> list[str]:
    """Return reasons why it may be slower than possible, because the storage controller gave no answer in time."""
    reads = [
        f"Input {read.name} is read {read.why}. This may be slower." for read in execution.inputs if read.unanswered
    ]
    without = f"The bandwidth that it asks for is not granted: {execution.storage_problem}"
    return [*reads, *([without] if execution.storage_problem and execution.state in ACTIVE_STATES else [])]


def _timeline(console: Console, execution: ExecutionView) -> None:
    console.print("[bold]4[/bold] Timeline (seconds after the submission)")
    marks = [(mark, execution.marks[mark]) for mark in Mark if mark in execution.marks]
    for mark, at_s in marks:
        console.print(f"  {mark.value:<16}{at_s - execution.submitted_at_s:8.2f}")
    for service in execution.services:
        if service.started_at_s is not None and service.ended_at_s is not None:
            label = f"{service.name} ({'core' if service.core else 'elastic'})"
            began_s, ended_s = (t - execution.submitted_at_s for t in (service.started_at_s, service.ended_at_s))
            console.print(f"  {label:<28}ran {began_s:6.2f} to {ended_s:6.2f}")


def _failure(console: Console, client: Client, execution: ExecutionView) -> None:
    console.print(f"[red]The application ended as {execution.state.value}: {execution.message}[/red]")
    driver = next(s for s in execution.services if s.component == "driver")
    chunk = client.logs(execution.id, driver.id, limit=1 << 20)
    console.print(_tail(chunk.data), markup=False)


def _tail(data: str) -> str:
    return base64.b64decode(data).decode(errors="replace")[-4000:]


def judge(console: Console, data: Dataset, execution_id: str) -> bool:
    """Show the result; return whether it equals the one computed without Spark."""
    result, expected = data.result(), data.expected_rows()
    console.print(_result_table(result or []))
    if result != expected:
        console.print("[red]The answer differs from the one computed without Spark.[/red]")
        return False
    console.print(f"[green]The answer is right[/green]: {len(expected)} rows equal those computed without Spark.")
    console.print("Where to look next:")
    show = f".venv/bin/zoe show {execution_id}"
    for what, why in (
        ("make serve", "start the same stack and keep it running"),
        (show, "show this execution, while `make serve` runs"),
        ("docs/start/tutorial.md", "describe and run an application of your own"),
    ):
        console.print(f"  {what:<{len(show)}}   {why}", markup=False)
    return True


def _result_table(rows: list[dict[str, Any]]) -> Table:
    """Return the report's rows in kilowatt-hours, narrow enough for a terminal of 80 columns."""
    table = Table(
        title="Consumption by region and type of dwelling", title_justify="left", box=None, padding=(0, 2, 0, 0)
    )
    for name in ("  region", "type", "meters", "readings", "night kWh", "day kWh"):
        table.add_column(name, justify="left" if name in ("  region", "type") else "right", no_wrap=True)
    for row in rows:
        energies = [f"{row[key] / 1000:,.0f}" for key in ("off_peak_wh", "peak_wh")]
        table.add_row(f"  {row['region']}", row["type"], f"{row['meters']:,}", f"{row['readings']:,}", *energies)
    return table


if __name__ == "__main__":
    sys.exit(main())
