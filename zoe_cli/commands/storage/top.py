"""storage top: live traffic at the object store's proxies."""

from __future__ import annotations

import json
import sys
import time
from enum import StrEnum
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import Format, emit, note, write
from zoe_cli.rows import Rows
from zoe_cli.units import count_with_noun, duration, rate
from zoe_client.wire import StorageTrafficRow, StorageTrafficView

_WATCH_S = 2.0
_CLEAR = "\033[H\033[2J"


class Dimension(StrEnum):
    """Key by which rates are summed."""

    TENANT = "tenant"
    KEY = "key"
    CONTAINER = "container"
    METHOD = "method"
    PROXY = "proxy"
    NODE = "node"


class Order(StrEnum):
    """Sort order."""

    BYTES = "bytes"
    REQUESTS = "requests"
    FAILED = "failed"
    LATENCY = "latency"
    CPU = "cpu"


_WEIGHTS = {
    Order.BYTES: lambda row: row.read_bytes_per_s + row.write_bytes_per_s,
    Order.REQUESTS: lambda row: row.requests_per_s,
    Order.FAILED: lambda row: row.failed_per_s + row.refused_per_s,
    Order.LATENCY: lambda row: row.mean_latency_s or 0.0,
    Order.CPU: lambda row: row.cpu_s_per_s,
}


def top(
    context: typer.Context,
    by: Annotated[
        list[Dimension] | None,
        typer.Option(
            help="Group rows by this; may be repeated (default: tenant, container and method). key: the access key."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=60, help="Length of the window, in seconds.")] = 10.0,
    sort: Annotated[Order, typer.Option(help="Column to sort by.")] = Order.BYTES,
    tenant: Annotated[
        str | None, typer.Option(help="Only this tenant; another than your own needs an operator.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of rows.")] = 20,
    watch: Annotated[
        bool,
        typer.Option("--watch", "-w", help="Repeat every two seconds; with -o json, one document per line."),
    ] = False,
) -> None:
    """Show requests, bytes and latency at the object store's proxies; only operators see other tenants.

    FAILED: answers of 5xx, and connections that ended early. REFUSED: answers of 4xx. LATENCY: mean time to the head of
    an answer; for PUT, with the time in which the client sent the object. CPU: cores that filters and views use; WAIT:
    seconds per second that requests wait because of the tenant's CPU limit.
    """
    dimensions = [
        dimension
        for dimension in Dimension
        if dimension in (by or (Dimension.TENANT, Dimension.CONTAINER, Dimension.METHOD))
    ]
    with options(context).client() as client:
        while True:
            answer = client.storage_traffic(dimensions, seconds, tenant)
            answer.rows.sort(key=_WEIGHTS[sort], reverse=True)
            left_out = max(len(answer.rows) - limit, 0) + answer.left_out
            del answer.rows[limit:]
            form = options(context).output
            if watch and form is Format.JSON:
                write(json.dumps(answer.model_dump(mode="json")) + "\n")
            else:
                emit(answer, form, _rows(answer, dimensions))
            if form is Format.TABLE:
                _print_totals(answer, left_out)
            if not watch:
                return
            time.sleep(_WATCH_S)
            if form is not Format.JSON:
                write(_CLEAR if sys.stdout.isatty() else "\n")


def _print_totals(answer: StorageTrafficView, left_out: int) -> None:
    if not answer.rows:
        note(f"No requests in the last {duration(answer.seconds)}.")
    elif left_out:
        note(f"{count_with_noun(left_out, 'row')} more: --limit")


def _rows(answer: StorageTrafficView, dimensions: list[Dimension]) -> Rows:
    figures = ("requests/s", "refused/s", "failed/s", "read", "write", "latency", "cpu", "wait")
    return Rows(
        (*dimensions, *figures),
        [(*(getattr(row, dimension) or "" for dimension in dimensions), *_figures(row)) for row in answer.rows],
        empty="",
    )


def _figures(row: StorageTrafficRow) -> tuple[str, ...]:
    counts = (f"{value:.1f}" for value in (row.requests_per_s, row.refused_per_s, row.failed_per_s))
    cpu = (f"{value:.2f}" if value else "" for value in (row.cpu_s_per_s, row.cpu_wait_s_per_s))
    latency = "" if row.mean_latency_s is None else f"{row.mean_latency_s * 1000:.1f} ms"
    return (*counts, rate(row.read_bytes_per_s), rate(row.write_bytes_per_s), latency, *cpu)
