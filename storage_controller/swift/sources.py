"""The source of a view as its tenant reads it: its objects and the names of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote

import httpx

from storage_bridge.model import View
from storage_controller.answers import RequestRefusedError
from storage_filters.csv.header import header_names
from storage_filters.csv.media import why_not_csv
from storage_filters.csv.parser import UnreadableRecordError
from storage_filters.csv.selection import HEADER_BYTES_MAX, CsvFormat, SelectionError
from storage_filters.views.view import ViewDefinition, parts_of

_NOT_FOUND = 404
Open = Callable[[str, dict[str, str]], httpx.Response]
"""Requests a path below the tenant's account, with headers; the body is not read yet."""


def definition_of(view: View) -> ViewDefinition:
    """Return the definition of a view for the proxy. Raises RequestRefusedError if it is invalid."""
    place = view.place
    try:
        csv = CsvFormat(**{"header": True, **dict(view.csv)})  # type: ignore[arg-type]  # checked by itself
    except (SelectionError, TypeError) as error:
        raise RequestRefusedError(422, str(error)) from None
    columns, where, types = view.columns, view.where or "", dict(view.types)
    return ViewDefinition(place.container, place.prefix, view.names, columns, where, csv, types=types)


def names_of(view: View, get: Open) -> tuple[str, ...]:
    """Return the names of all columns: those of the view, or of the header of the first object; none without one.

    The source is read in any case, so that an unreadable source is refused. Raises RequestRefusedError.
    """
    source = definition_of(view)
    listing = f"{quote(source.container)}?format=json&prefix={quote(source.directory)}"
    with open_path(get, listing, {}) as answer:
        answer.read()
        entries = answer.json() if answer.content else []
    try:
        first = next(parts_of(iter(entries), source), None)
        if first is None:
            return source.names
        path = quote(f"{source.container}/{source.directory}{first[0].name}")
        with open_path(get, path, {"Range": f"bytes=0-{HEADER_BYTES_MAX - 1}"}) as answer:
            start = answer.read()
        if why := why_not_csv(first[0].name, start):
            raise RequestRefusedError(422, why)
        return header_names(start, source.csv) if source.csv.header and not source.names else source.names
    except (SelectionError, UnreadableRecordError) as error:
        raise RequestRefusedError(422, str(error)) from None


@contextmanager
def open_path(get: Open, path: str, headers: dict[str, str]) -> Iterator[httpx.Response]:
    """Return a successful answer with an unread body. Raises RequestRefusedError, with the store's message."""
    answer = get(path, headers)
    try:
        if not answer.is_success:
            text = answer.read().decode(errors="replace").strip()
            if answer.status_code == _NOT_FOUND:
                raise RequestRefusedError(_NOT_FOUND, "the source answers 404: there is no such container")
            raise RequestRefusedError(422 if answer.is_client_error else 503, text or str(answer.status_code))
        yield answer
    except httpx.HTTPError as error:
        raise RequestRefusedError(503, f"cannot read from Swift: {error or type(error).__name__}") from None
    finally:
        answer.close()
