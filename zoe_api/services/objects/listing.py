"""Containers and objects as directories and files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.objects.account import Account, Path, StoreRequest
from zoe_client.wire import FileEntry, FileList
from zoe_client.words.file_paths import path_text

# Containers that Zoe makes for itself; no user wrote their content.
HIDDEN = ("zoe-uploads", "zoe-segments", "zoe-view-")
MARKER_TYPE = "application/directory"
_LAST = "\U0010ffff"
_NOT_FOUND = 404


async def list_entries(account: Account, path: Path, after: str, limit: int) -> FileList:
    """Return the entry at a path and, for a container or a common prefix of names, its entries; ApiProblem."""
    if not path:
        return await _containers(account, after, limit)
    here = await entry_of(account, path)
    if here.kind != "directory":
        return FileList(entry=here, entries=[], next=None)
    prefix = prefix_of(path)
    query: dict[str, str | int] = {
        "format": "json",
        "delimiter": "/",
        "limit": limit,
        "prefix": prefix,
        "marker": _marker(prefix, after),
    }
    found = await _page(account, path[:1], query)
    entries = list(_objects(found, prefix))
    last = found[-1] if len(found) == limit else None
    name = "" if last is None else str(last.get("subdir") or last["name"]).removeprefix(prefix)
    return FileList(entry=here, entries=entries, next=_cursor_of(name) if last is not None else None)


async def entry_of(account: Account, path: Path) -> FileEntry:
    """Return the entry at a path; ApiProblem if there is none."""
    if not path:
        return _directory("")
    if len(path) == 1:
        await account.send_and_close(StoreRequest("HEAD", path))
        return _directory(path_text(path[0]))
    answer = await account.send_and_close(StoreRequest("HEAD", path), _NOT_FOUND)
    is_object = answer.status_code != _NOT_FOUND
    if is_object and answer.headers.get("Content-Type", "").partition(";")[0] != MARKER_TYPE:
        size, modified_at_s = int(answer.headers["Content-Length"]), float(answer.headers.get("X-Timestamp", 0))
        return _file(path_text(path[-1]), size, modified_at_s)
    query: dict[str, str | int] = {"format": "json", "limit": 1, "prefix": prefix_of(path)}
    if not is_object and not await _page(account, path[:1], query):
        raise ApiProblem(Code.NOT_FOUND, f"{path_text(b'/'.join(path))} does not exist")
    return _directory(path_text(path[-1]))


async def names_below(account: Account, path: Path, limit: int, after: str = "") -> Sequence[dict[str, Any]]:
    """Return the first objects after a name, in a container or below a prefix with the marker of the directory, as the
    store lists them.
    """
    query: dict[str, str | int] = {"format": "json", "limit": limit, "prefix": prefix_of(path), "marker": after}
    return await _page(account, path[:1], query)


def prefix_of(path: Path) -> str:
    """Return the common prefix of object names below a path."""
    names = b"/".join(path[1:]).decode(errors="replace")
    return f"{names}/" if names else ""


async def _containers(account: Account, after: str, limit: int) -> FileList:
    query: dict[str, str | int] = {"format": "json", "limit": limit, "marker": unquote(after.rstrip("/"))}
    found = await _page(account, (), query)
    names = [str(entry["name"]) for entry in found]
    shown = [_directory(path_text(name.encode()), _moment(entry)) for name, entry in zip(names, found, strict=True)
             if not name.startswith(HIDDEN)]  # fmt: skip
    return FileList(entry=_directory(""), entries=shown, next=_cursor_of(names[-1]) if len(found) == limit else None)


async def _page(account: Account, path: Path, query: Mapping[str, str | int]) -> list[dict[str, Any]]:
    _, content = await account.read(StoreRequest("GET", path, query))
    found: list[dict[str, Any]] = json.loads(content) if content else []
    return found


def _objects(found: Sequence[dict[str, Any]], prefix: str) -> Iterator[FileEntry]:
    """Yield entries: a directory once, although its marker and its prefix are both listed."""
    directories = {str(entry["subdir"]) for entry in found if "subdir" in entry}
    for entry in found:
        full = str(entry.get("subdir") or entry["name"])
        name = full.removeprefix(prefix)
        plain = name.removesuffix("/")
        is_marker = entry.get("content_type") == MARKER_TYPE
        if not name or (is_marker and f"{full}/" in directories):
            continue
        shown = path_text(plain.encode())
        if not plain or "/" in plain or plain in {".", ".."} or "\0" in plain:
            yield FileEntry(name=path_text(name.encode()), kind="other", size_bytes=0, modified_at_s=0, link=False)
        elif "subdir" in entry or is_marker:
            yield _directory(shown, _moment(entry))
        else:
            yield _file(shown, int(entry["bytes"]), _moment(entry))


def _marker(prefix: str, after: str) -> str:
    """Return the name after which the store continues: after a directory, its entries are skipped."""
    if not after:
        return ""
    name = unquote(after)
    return f"{prefix}{name}{_LAST}" if name.endswith("/") else f"{prefix}{name}"


def _cursor_of(name: str) -> str:
    return path_text(name.encode())


def _moment(one: dict[str, Any]) -> float:
    text = one.get("last_modified")
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() if text else 0.0


def _directory(name: str, modified_at_s: float = 0.0) -> FileEntry:
    return FileEntry(name=name, kind="directory", size_bytes=0, modified_at_s=modified_at_s, link=False)


def _file(name: str, size_bytes: int, modified_at_s: float) -> FileEntry:
    return FileEntry(name=name, kind="file", size_bytes=size_bytes, modified_at_s=modified_at_s, link=False)
