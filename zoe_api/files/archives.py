"""Files and directories as one zip archive, which is made while it is sent."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field

import httpx

from zoe_api.apps.forwarding import BrokeOff
from zoe_api.files.sources import FileSource
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_client.wire import FileEntry
from zoe_client.words.file_paths import path_parts

FILES_MAX = 10_000
"""Bounds the requests that one archive makes."""
_PAGE = 1000
_LARGE = 1 << 31
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT = "LEFT-OUT.txt"


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: its path for the source, its name in the archive, and what its directory says of it."""

    path: str
    name: str
    entry: FileEntry


@dataclass(slots=True)
class Contents:
    """What an archive holds: files, directories without files, and names that cannot be in it."""

    files: list[Member] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


async def contents_of(source: FileSource, paths: Sequence[str]) -> Contents:
    """Return the files at these paths and below them; ApiProblem. Links to directories, and what is neither file nor
    directory, are left out.
    """
    found = Contents()
    for path in paths:
        listing = await source.list(path, "", 1)
        await _collect(source, path, _last_name(path), listing.entry, found)
    return found


async def _collect(source: FileSource, path: str, name: str, entry: FileEntry, found: Contents) -> None:
    if entry.kind == "file":
        found.files.append(Member(path, name, entry))
        if len(found.files) > FILES_MAX:
            hint = "download its directories one by one, or copy it by `zoe cp -r`"
            raise ApiProblem(Code.TOO_LARGE, f"too many files: an archive can have at most {FILES_MAX}", hint)
    elif entry.kind == "directory" and not (entry.link and path):
        found.directories.append(name)
        async for below in _entries(source, path):
            inner = f"{path}/{below.name}" if path else below.name
            place = "/".join(part for part in (name, _last_name(below.name)) if part)
            await _collect(source, inner, place, below, found)
    else:
        found.left_out.append(name)


async def _entries(source: FileSource, path: str) -> AsyncIterator[FileEntry]:
    after: str | None = ""
    while after is not None:
        page = await source.list(path, after, _PAGE)
        for entry in page.entries:
            yield entry
        after = page.next


def _last_name(path: str) -> str:
    """Return the last name of a path as people know it; as the API writes it, if it is not UTF-8."""
    parts = path_parts(path)
    try:
        return parts[-1].decode() if parts else ""
    except UnicodeDecodeError:
        return path.rpartition("/")[2]


async def archive_bytes(source: FileSource, contents: Contents) -> AsyncGenerator[bytes]:
    """Yield the bytes of the archive; BrokeOff if a file cannot be read to its end."""
    written = _Written()
    with zipfile.ZipFile(written, "w") as archive:
        for directory in filter(None, contents.directories):
            archive.mkdir(directory)
        for member in contents.files:
            answer = await _opened(source, member)
            try:
                with archive.open(_info(member), "w", force_zip64=member.entry.size_bytes >= _LARGE) as target:
                    async for piece in answer.aiter_raw():
                        target.write(piece)
                        yield written.take()
            except httpx.TransportError as error:
                raise BrokeOff(str(error) or type(error).__name__) from None
            finally:
                await answer.aclose()
        if contents.left_out:
            archive.writestr(_LEFT_OUT, "".join(f"{name}\n" for name in contents.left_out))
    yield written.take()


async def _opened(source: FileSource, member: Member) -> httpx.Response:
    try:
        return await source.content(member.path, {})
    except ApiProblem as refused:
        # The answer has begun: only a broken connection tells the client that it is not whole.
        raise BrokeOff(f"{member.path}: {refused}") from None


def _info(member: Member) -> zipfile.ZipInfo:
    moment = time.gmtime(max(member.entry.modified_at_s, 0))[:6]
    info = zipfile.ZipInfo(member.name, max(moment, _EARLIEST))
    info.external_attr = 0o644 << 16
    return info


class _Written(io.RawIOBase):
    """Collects what the archive writes until it is taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, piece: object) -> int:
        """Keep a piece."""
        data = bytes(piece)  # type: ignore[call-overload]
        self._pieces.append(data)
        return len(data)

    def take(self) -> bytes:
        """Return all bytes that were written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
