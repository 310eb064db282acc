"""Reads a part of a view's source both ways, as the reseller admin, to see what either takes."""

from __future__ import annotations

import csv
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from urllib.parse import quote

import httpx

from storage_bridge.controller.answers import Refused
from storage_bridge.model import View, ViewSample
from storage_bridge.swift.view import Part

SAMPLE_BYTES = 8 * 2**20
_HEADER_BYTES = 128 * 1024
# The least of several, in turn: what else works on the machine makes either slower, never faster.
_TIMES = 2
_GZIP = 16 + zlib.MAX_WBITS

T = TypeVar("T")
Open = Callable[[str, dict[str, str]], httpx.Response]
"""GET of a path below the tenant's account, with headers; the body is still to be read."""


def sample(view: View, get: Open, rate_bytes_per_s: int | None) -> ViewSample:
    """What the middle of the source takes. Refused, with the store's own words, when either cannot be read."""
    container, _, prefix = view.source.partition("://")[2].partition("/")
    container = container.partition(".")[0]
    parts = _parts(view, get)
    if not parts:
        return ViewSample(0, 0, 0, 0, 0.0, 0.0, rate_bytes_per_s, view.columns)
    middle = parts[len(parts) // 2]
    part = Part(middle.name, middle.start, min(middle.end, middle.start + SAMPLE_BYTES), middle.etag)
    plain_path = quote(f"{container}/{_joined(prefix, part.name)}")
    view_path = quote(f"{view.container}/{part.virtual_name}")
    plain_range = {"Range": f"bytes={part.start}-{part.end - 1}"}
    plain, viewed = [], []
    for _ in range(_TIMES):
        plain.append(_timed(lambda: _count(get, plain_path, plain_range)))
        viewed.append(_timed(lambda: _unpacked(get, view_path)))
    delivered, selected = viewed[0][1]
    return ViewSample(
        source_bytes=sum(one.end - one.start for one in parts),
        sampled_bytes=part.end - part.start,
        delivered_bytes=delivered,
        selected_bytes=selected,
        plain_s=min(took_s for took_s, _ in plain),
        view_s=min(took_s for took_s, _ in viewed),
        rate_bytes_per_s=rate_bytes_per_s,
        columns=view.columns or _header(get, quote(f"{container}/{_joined(prefix, parts[0].name)}")),
    )


def _parts(view: View, get: Open) -> list[Part]:
    """Those of the first page of its listing, which has ten thousand."""
    with _opened(get, f"{quote(view.container)}?format=json", {}) as answer:
        answer.read()
        found = (Part.named(entry["name"]) for entry in answer.json())
        return [part for part in found if part is not None]


def _count(get: Open, path: str, headers: dict[str, str]) -> int:
    with _opened(get, path, headers) as answer:
        return sum(len(chunk) for chunk in answer.iter_raw())


def _unpacked(get: Open, path: str) -> tuple[int, int]:
    """Bytes as delivered, and as they are once unpacked."""
    delivered = selected = 0
    unpack = zlib.decompressobj(_GZIP)
    with _opened(get, path, {}) as answer:
        for chunk in answer.iter_raw():
            delivered += len(chunk)
            selected += len(unpack.decompress(chunk))
    if not unpack.eof:
        raise Refused(503, "the view was cut")
    return delivered, selected


def _header(get: Open, path: str) -> tuple[str, ...]:
    with _opened(get, path, {"Range": f"bytes=0-{_HEADER_BYTES - 1}"}) as answer:
        line = answer.read().partition(b"\n")[0].decode(errors="replace")
    return tuple(next(csv.reader([line.rstrip("\r")]), ()))


@contextmanager
def _opened(get: Open, path: str, headers: dict[str, str]) -> Iterator[httpx.Response]:
    answer = get(path, headers)
    try:
        if not answer.is_success:
            text = answer.read().decode(errors="replace").strip()
            raise Refused(422 if answer.is_client_error else 503, text or str(answer.status_code))
        yield answer
    except httpx.HTTPError as error:
        raise Refused(503, f"Swift cannot be read: {error or type(error).__name__}") from None
    finally:
        answer.close()


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began_s = time.perf_counter()
    done = work()
    return time.perf_counter() - began_s, done


def _joined(prefix: str, name: str) -> str:
    return prefix + ("" if not prefix or prefix.endswith("/") else "/") + name
