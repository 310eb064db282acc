"""Measure a view: read part of its source plainly and through the view, as its tenant."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote

from storage_bridge.model import STORED_HEADER, WHY_HEADER, View, ViewSample
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.sources import Open, names_of, open_path
from storage_filters.views.view import Part

SAMPLE_BYTES = 8 * 2**20
# The shortest of several alternating reads counts: other work on the machine only makes them slower.
_TIMES = 2
_GZIP = 16 + zlib.MAX_WBITS

T = TypeVar("T")


def sample(view: View, get: Open, rate_bytes_per_s: int | None) -> ViewSample:
    """Return the measurements for the middle of the source. Raises RequestRefusedError, with the store's message,
    if it cannot be
    read.
    """
    parts = _parts(view, get)
    if not parts:
        return ViewSample(0, 0, 0, 0, 0.0, 0.0, rate_bytes_per_s, view.columns)
    middle = parts[len(parts) // 2]
    part = Part(middle.name, middle.start, min(middle.end, middle.start + SAMPLE_BYTES), middle.etag)
    plain_path = quote(f"{view.place.container}/{_join(view.place.prefix, part.name)}")
    view_path = quote(f"{view.container}/{part.virtual_name}")
    plain_range = {"Range": f"bytes={part.start}-{part.end - 1}"}
    plain, viewed = [], []
    for _ in range(_TIMES):
        plain.append(_time(lambda: _read_range(get, plain_path, plain_range)))
        viewed.append(_time(lambda: _delivered_bytes(get, view_path)))
    delivered, selected = viewed[0][1]
    filters, stored_share = plain[0][1]
    return ViewSample(
        source_bytes=sum(part.end - part.start for part in parts),
        sampled_bytes=part.end - part.start,
        delivered_bytes=delivered,
        selected_bytes=selected,
        plain_s=min(took_s for took_s, _ in plain),
        view_s=min(took_s for took_s, _ in viewed),
        rate_bytes_per_s=rate_bytes_per_s,
        columns=view.columns or names_of(view, get),
        filters=filters,
        stored_share=stored_share,
    )


def _parts(view: View, get: Open) -> list[Part]:
    """Return the parts on the first page of its listing, which has ten thousand entries."""
    with open_path(get, f"{quote(view.container)}?format=json", {}) as answer:
        answer.read()
        found = (Part.from_name(entry["name"]) for entry in answer.json())
        return [part for part in found if part is not None]


def _read_range(get: Open, path: str, headers: dict[str, str]) -> tuple[tuple[str, ...], float | None]:
    """Read a range to its end; return the filters of its object, and the stored bytes for each original byte."""
    with open_path(get, path, headers | {WHY_HEADER: "yes"}) as answer:
        for _ in answer.iter_raw():
            pass
        told = answer.headers
    try:
        filters = tuple(str(load.get("name") or load["filter"]).lower() for load in json.loads(told[WHY_HEADER]))
        size, stored = int(told["Content-Range"].rpartition("/")[2]), int(told[STORED_HEADER])
    except (KeyError, ValueError, TypeError, AttributeError):
        return (), None
    return filters, stored / size if filters and size else None


def _delivered_bytes(get: Open, path: str) -> tuple[int, int]:
    """Return the delivered bytes, and the uncompressed ones."""
    delivered = selected = 0
    unpack = zlib.decompressobj(_GZIP)
    with open_path(get, path, {}) as answer:
        for chunk in answer.iter_raw():
            delivered += len(chunk)
            selected += len(unpack.decompress(chunk))
    if not unpack.eof:
        raise RequestRefusedError(503, "the view ended early")
    return delivered, selected


def _time(work: Callable[[], T]) -> tuple[float, T]:
    began_s = time.perf_counter()
    done = work()
    return time.perf_counter() - began_s, done


def _join(prefix: str, name: str) -> str:
    return prefix + ("" if not prefix or prefix.endswith("/") else "/") + name
