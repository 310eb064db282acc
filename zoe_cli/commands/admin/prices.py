"""admin prices, admin statement: price lists, and closing a month."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from zoe_cli.context import on_terminal, options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.documents.load import load_json
from zoe_client.wire import PriceListView, StatementView
from zoe_client.words.times import zone_of

app = typer.Typer(help="Price lists: what executions cost, and from when on.", no_args_is_help=True)
statements = typer.Typer(help="Statements of all tenants.", no_args_is_help=True)
Document = Annotated[str, typer.Argument(metavar="FILE", help="Price list in JSON (`-`: standard input).")]
Past = Annotated[bool, typer.Option("--past", help="Allow that it begins in the past, in a month that is not closed.")]
_KEYS, _ROWS = ("currency", "zone", "until", "digits"), ("rates", "discounts", "credits")


def set_prices(context: typer.Context, file: Document, past: Past = False) -> None:
    """Set a price list. It applies from its `from` on; one with the same `from` that has not begun is replaced, after a
    question on a terminal if it charges otherwise.
    """
    document = _document(file)
    with options(context).client() as client:
        client.admin.check_price_list(document, past)
        before = _with_same_begin(client.admin.price_lists().price_lists, document)
        if before is not None:
            _ask_to_replace(before, document)
        stored = client.admin.set_price_list(document, past)
    emit(stored, options(context).output, _rows([stored]))


def _with_same_begin(lists: list[PriceListView], document: dict[str, Any]) -> PriceListView | None:
    """Return the list that begins with a valid document; None if there is none."""
    begin = datetime.fromisoformat(document["from"])
    if begin.tzinfo is None:
        begin = begin.replace(tzinfo=zone_of(document.get("zone", "UTC")))
    return next((entry for entry in lists if entry.from_s == begin.timestamp()), None)


def _ask_to_replace(before: PriceListView, document: dict[str, Any]) -> None:
    """Show what a document changes in the list that it replaces; on a terminal, ask unless nothing changes."""
    note(f"note: it replaces price list {before.id}, which {before.set_by} set for the same time")
    changes = list(changed_prices(before.document, document))
    for line in changes or ["note: nothing that is charged changes"]:
        note(line)
    if changes and sys.stdin.isatty() and on_terminal():
        typer.confirm("Replace it?", abort=True, err=True)


def changed_prices(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Yield what a price list changes in another one: keys with their values, and rows without (-) and with it (+)."""
    for key in _KEYS:
        before, after = old.get(key), new.get(key)
        if before != after:
            yield f"{key}: {json.dumps(before)} -> {json.dumps(after)}"
    for kind in _ROWS:
        before, after = old.get(kind, []), new.get(kind, [])
        yield from (f"- {kind}: {json.dumps(row)}" for row in before if row not in after)
        yield from (f"+ {kind}: {json.dumps(row)}" for row in after if row not in before)
        if before != after and len(before) == len(after) and all(row in before for row in after):
            yield f"{kind}: the same rows in another order"


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
    except OSError as error:
        raise typer.BadParameter(f"cannot read {file}: {error.strerror}") from None
    except DescriptionError as error:
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
