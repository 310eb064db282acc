"""storage metric: metrics that admins add for rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.text import shorten_text
from zoe_cli.units import duration
from zoe_client.wire import StorageMetricRequest, StorageMetricView

app = typer.Typer(help="Metrics that you add for rules of the object store, for admins.", no_args_is_help=True)

_SHOWN, _WIDTH = 3, 60
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the metric in rules.")]


def add_metric(
    context: typer.Context,
    name: Name,
    promql: Annotated[str | None, typer.Option(help="Expression for Prometheus.")] = None,
    python: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Program in Python with a class Metric.")
    ] = None,
    tenant_label: Annotated[str, typer.Option(help="Label of the expression's series with their tenant.")] = "tenant",
    container_label: Annotated[str, typer.Option(help="Label of the results that names the container.")] = "container",
) -> None:
    """Add a metric: an expression of PromQL, or a program in Python."""
    if (promql is None) == (python is None):
        raise typer.BadParameter("a metric is an expression or a program: give --promql or --python")
    try:
        program = None if python is None else python.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{python} is not text in UTF-8") from None
    wanted = StorageMetricRequest(
        expression=promql, program=program, tenant_label=tenant_label, container_label=container_label
    )
    with options(context).client() as client:
        answer = client.add_storage_metric(name, wanted)
    emit(answer, options(context).output, _rows([answer]))


def list_metrics(context: typer.Context) -> None:
    """List the metrics with their values, for three tenants or containers; -o json prints all."""
    with options(context).client() as client:
        answer = client.storage_metrics()
    emit(answer, options(context).output, _rows(answer.metrics))


def remove_metric(context: typer.Context, name: Name) -> None:
    """Remove a metric that no rule uses."""
    with options(context).client() as client:
        client.remove_storage_metric(name)
    emit({"removed": name}, options(context).output, Rows(("removed",), [(name,)]))


def _rows(metrics: list[StorageMetricView]) -> Rows:
    rows = [
        (
            metric.name,
            metric.source,
            metric.mode,
            shorten_text(_values(metric), _WIDTH),
            "" if metric.age_s is None else duration(metric.age_s),
            shorten_text(", ".join(map(str, metric.rules)), _WIDTH),
            shorten_text(metric.problem, _WIDTH),
        )
        for metric in metrics
    ]
    return Rows(("name", "source", "mode", "values", "age", "rules", "problem"), rows)


def _values(one: StorageMetricView) -> str:
    shown = [f"{'/'.join(filter(None, (v.tenant, v.container))) or 'all'} {v.value:g}" for v in one.values[:_SHOWN]]
    more = one.values_count - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more > 0 else [])]) or "not known"


add(
    app,
    "add",
    add_metric,
    (
        'zoe storage metric add load --promql "sum by (tenant) (rate(zoe_object_store_bytes_total[1m]))"',
        "zoe storage metric add busy --python busy.py",
    ),
)
add(app, "ls", list_metrics, ("zoe storage metric ls",))
add(app, "rm", remove_metric, ("zoe storage metric rm load",))
