"""admin prices, admin statement: price lists, and closing a month."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.documents.load import load_json
from zoe_client.wire import PriceListView, StatementView

app = typer.Typer(help="Price lists: what executions cost, and from when on.", no_args_is_help=True)
statements = typer.Typer(help="Statements of all tenants.", no_args_is_help=True)
Document = Annotated[str, typer.Argument(metavar="FILE", help="Price list in JSON (`-`: standard input).")]
Past = Annotated[bool, typer.Option("--past", help="Allow that it begins in the past, in a month that is not closed.")]


def set_prices(context: typer.Context, file: Document, past: Past = False) -> None:
    """Set a price list. It applies from its `from` on; one with the same `from` that has not begun is replaced."""
    document = _document(file)
    with options(context).client() as client:
        stored = client.admin.set_price_list(document, past)
    emit(stored, options(context).output, _rows([stored]))


def check_prices(context: typer.Context, file: Document, past: Past = False) -> None:
    """Check a price list, and report all its errors. Nothing changes."""
    document = _document(file)
    with options(context).client() as client:
        client.admin.check_price_list(document, past)
    note("The price list is valid.")


def list_prices(
    context: typer.Context,
    history: Annotated[
        bool, typer.Option("--history", help="Include lists that were replaced or removed before they began.")
    ] = False,
) -> None:
    """List price lists by the time from which they apply."""
    with options(context).client() as client:
        found = client.admin.price_lists(history)
    emit(found, options(context).output, _rows(found.price_lists))


def show_prices(
    context: typer.Context,
    list_id: Annotated[
        int | None, typer.Argument(metavar="[ID]", help="Id of the list (default: the one that applies now).")
    ] = None,
) -> None:
    """Show a price list."""
    with options(context).client() as client:
        found = client.admin.price_lists(history=True).price_lists
    one = next((entry for entry in found if (entry.holds if list_id is None else entry.id == list_id)), None)
    if one is None:
        raise typer.BadParameter(
            "no price list applies today" if list_id is None else f"price list {list_id} does not exist"
        )
    rows = [
        (kind, row.get("meter") or row.get("name", ""), row.get("when", ""), str(row.get(amount)))
        for kind, amount in (("rates", "rate"), ("discounts", "percent"), ("credits", "percent"))
        for row in one.document.get(kind, [])
    ]
    emit(one, options(context).output, Rows(("kind", "what", "when", "amount"), rows))


def remove_prices(
    context: typer.Context,
    list_id: Annotated[int, typer.Argument(metavar="ID", help="Id of the list.")],
    past: Annotated[
        bool, typer.Option("--past", help="Also one that has begun by mistake, while no month was closed by it.")
    ] = False,
) -> None:
    """Remove a price list that has not begun."""
    with options(context).client() as client:
        client.admin.remove_price_list(list_id, past=past)


def close(
    context: typer.Context, month: Annotated[str, typer.Argument(metavar="MONTH", help="Month, such as 2026-11.")]
) -> None:
    """Close a month, a day after its end at the earliest: its statements stay as they are."""
    with options(context).client() as client:
        found = client.admin.close_statement(month)
    _emit_month(context, found)


def reopen(
    context: typer.Context,
    month: Annotated[str, typer.Argument(metavar="MONTH", help="The month closed last.")],
) -> None:
    """Open a month that was closed by mistake, as long as only admins have seen its statements, and none as CSV."""
    with options(context).client() as client:
        found = client.admin.reopen_statement(month)
    _emit_month(context, found)


def _emit_month(context: typer.Context, found: StatementView) -> None:
    for text in found.gaps:
        note(f"note: {text}")
    rows = [(found.month, found.total, found.currency or "", len({line.tenant for line in found.lines}))]
    emit(found, options(context).output, Rows(("month", "total", "currency", "tenants"), rows))


def _document(file: str) -> dict[str, Any]:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        found = load_json(content)
    except (OSError, DescriptionError) as error:
        raise typer.BadParameter(str(error)) from None
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{file} is not a JSON object")
    return found


def _rows(found: list[PriceListView]) -> Rows:
    rows = [
        (
            *(entry.id, clock(entry.from_s), str(entry.document.get("until", "")), entry.document.get("currency", "")),
            *(len(entry.document.get("rates", [])), entry.set_by, _state(entry)),
        )
        for entry in found
    ]
    return Rows(("id", "from", "until", "currency", "rates", "set by", "state"), rows)


def _state(one: PriceListView) -> str:
    if one.replaced_at_s is not None:
        return "replaced"
    return "holds" if one.holds else ""


add(app, "set", set_prices, ("zoe admin prices set prices.json",))
add(app, "check", check_prices, ("zoe admin prices check prices.json",), results=False)
add(app, "ls", list_prices, ("zoe admin prices ls --history",))
add(app, "show", show_prices, ("zoe admin prices show", "zoe admin prices show 3 -o json"))
add(app, "rm", remove_prices, ("zoe admin prices rm 4",), results=False)
add(statements, "close", close, ("zoe admin statement close 2026-11",))
add(statements, "reopen", reopen, ("zoe admin statement reopen 2026-11",))
