"""Resumable uploads (tus 1.0): each part is a separate object until all parts exist.

The state of an upload is in the store, so that any API process can continue it: its target is an object in
`zoe-uploads/USER`, and its parts are objects in `zoe-segments`. Both expire. At the end, the parts become one object: a
copy if it is small, as views and all clients read plain objects best, else a static large object.
"""

from __future__ import annotations

import json
import mimetypes
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import ClientDisconnect

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.objects.account import COPY_TIMEOUT_S, Account, Path, StoreRequest
from zoe_client.words.file_paths import joined_path, path_parts
from zoe_lib.clock import SYSTEM_CLOCK, Clock

EXPIRES_S = 86_400
UNFINISHED_MAX = 100
UPLOADS, SEGMENTS = b"zoe-uploads", b"zoe-segments"
COPIED_BYTES_MAX = 1 << 30
"""Larger objects stay in segments: a copy would take longer than clients wait."""
SEGMENT_BYTES_MAX = 256 << 20
MANIFEST_ENTRIES_MAX = 1000
_ID = re.compile("[0-9a-f]{32}")
_NOT_FOUND = 404
_PARTS_MAX = 10_000
_FINISHED_MAX = 1000
_NO_COPY_OF_METADATA = {"X-Fresh-Metadata": "true"}


@dataclass(frozen=True, slots=True)
class StoredUpload:
    """An upload: its target, its length, the received bytes, and when it expires without progress."""

    id: str
    path: Path
    length: int
    offset: int
    expires_at_s: float


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    offset: int
    size: int
    etag: str


@dataclass(frozen=True, slots=True)
class UploadBounds:
    """Maximum bytes of an upload, of one part object, and of an object copied at the end."""

    upload_bytes_max: int
    segment_bytes_max: int = SEGMENT_BYTES_MAX
    copied_bytes_max: int = COPIED_BYTES_MAX
    manifest_entries_max: int = MANIFEST_ENTRIES_MAX


class UploadMemory:
    """Uploads known to this process: those being written, and those that have ended."""

    def __init__(self) -> None:
        self._busy: set[str] = set()
        self._finished: OrderedDict[str, StoredUpload] = OrderedDict()

    @contextmanager
    def hold_upload(self, number: str) -> Iterator[None]:
        """Hold an upload exclusively in this process; ApiProblem if another request writes to it."""
        if number in self._busy:
            raise ApiProblem(Code.UPLOAD_BUSY, "another request writes to this upload")
        self._busy.add(number)
        try:
            yield
        finally:
            self._busy.discard(number)

    def finished_upload(self, key: str) -> StoredUpload | None:
        """Return a finished upload: a client whose connection broke before the response asks once more."""
        return self._finished.get(key)

    def finish(self, key: str, upload: StoredUpload) -> StoredUpload:
        """Remember a finished upload."""
        while len(self._finished) >= _FINISHED_MAX:
            self._finished.popitem(last=False)
        self._finished[key] = upload
        return upload


class StoredUploads:
    """The uploads of a user to an account."""

    def __init__(
        self, account: Account, user: str, bounds: UploadBounds, memory: UploadMemory, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._clock = clock
        self._account = account
        self._user = user.encode()
        self._bounds = bounds
        self._memory = memory

    async def create(self, path: Path, length: int) -> StoredUpload:
        """Begin an upload to a path; one without content is complete at once; ApiProblem."""
        if length > self._bounds.upload_bytes_max:
            sentence = (
                f"{joined_path(path)} has {length} bytes; an upload may have at most {self._bounds.upload_bytes_max}"
            )
            raise ApiProblem(Code.TOO_LARGE, sentence)
        await self._account.send_and_close(StoreRequest("HEAD", path[:1]))
        if length == 0:
            await self._account.send_and_close(StoreRequest("PUT", path, headers=_kind_of(path), body=b""))
            upload = StoredUpload(secrets.token_hex(16), path, 0, 0, self._clock.now_s() + EXPIRES_S)
            return self._memory.finish(self._key(upload.id), upload)
        for container in (UPLOADS, SEGMENTS):
            await self._account.send_and_close(StoreRequest("PUT", (container,)))
        await self._check_number()
        number = secrets.token_hex(16)
        info = json.dumps({"path": joined_path(path), "length": length}).encode()
        headers = {"X-Delete-After": str(EXPIRES_S)}
        await self._account.send_and_close(StoreRequest("PUT", self._info(number), headers=headers, body=info))
        return StoredUpload(number, path, length, 0, self._clock.now_s() + EXPIRES_S)

    async def find(self, number: str) -> StoredUpload:
        """Return an upload, which moves to its target now if it is complete; ApiProblem."""
        if (finished := self._memory.finished_upload(self._key(number))) is not None:
            return finished
        upload, _ = await self._read_upload(number)
        if upload.offset < upload.length:
            return upload
        with self._memory.hold_upload(number):
            return await self._finish_if_complete(number)

    async def append(self, number: str, offset: int, length: int, body: AsyncIterator[bytes]) -> StoredUpload:
        """Append this many bytes to an upload, which moves to its target with the last one; ApiProblem.

        If the body ends early, the received bytes stay, and the upload can continue.
        """
        with self._memory.hold_upload(number):
            await self._append(number, offset, length, body)
            return await self._finish_if_complete(number)

    async def _append(self, number: str, offset: int, length: int, body: AsyncIterator[bytes]) -> None:
        upload, _ = await self._read_upload(number)
        if offset != upload.offset:
            raise ApiProblem(Code.UPLOAD_OFFSET, f"the upload has {upload.offset} bytes, not {offset}")
        if offset + length > upload.length:
            raise ApiProblem(
                Code.TOO_LARGE,
                f"these bytes end at {offset + length}, but the upload was announced with {upload.length} bytes",
            )
        pieces, end = _Pieces(body), offset + length
        while offset < end and not pieces.ended:
            segment = pieces.next_segment(min(self._bounds.segment_bytes_max, end - offset))
            name = SEGMENTS, number.encode(), b"%016d" % offset
            headers = {"X-Delete-After": str(EXPIRES_S)}
            await self._account.send_and_close(StoreRequest("PUT", name, headers=headers, body=segment))
            offset += pieces.sent

    async def end(self, number: str) -> None:
        """Remove an unfinished upload; ApiProblem."""
        upload, parts = await self._read_upload(number)
        await self._remove(upload, parts)

    async def _finish_if_complete(self, number: str) -> StoredUpload:
        upload, parts = await self._read_upload(number)
        if upload.offset < upload.length:
            return upload
        await self._finish(upload, parts)
        return self._memory.finish(self._key(number), upload)

    def _key(self, number: str) -> str:
        return f"{self._account.login.service} {self._account.login.user} {self._user.decode()} {number}"

    async def _read_upload(self, number: str) -> tuple[StoredUpload, list[_Part]]:
        gone = ApiProblem(Code.UPLOAD_GONE, "this upload is finished, was ended, or has expired: begin it again")
        if not _ID.fullmatch(number):
            raise gone
        answer, content = await self._account.read(StoreRequest("GET", self._info(number)), _NOT_FOUND)
        if answer.status_code == _NOT_FOUND:
            raise gone
        try:
            said = json.loads(content)
            path, length = path_parts(said["path"]), int(said["length"])
        except (ValueError, KeyError, TypeError):
            raise gone from None
        parts = await self._parts(number)
        # Parts of an earlier request may overlap those of the one that continued.
        chosen, offset = [], 0
        for part in parts:
            if part.offset == offset and part.size:
                chosen.append(part)
                offset += part.size
        expires_at_s = float(answer.headers.get("X-Delete-At", 0)) or self._clock.now_s() + EXPIRES_S
        return StoredUpload(number, path, length, offset, expires_at_s), chosen

    async def _parts(self, number: str) -> list[_Part]:
        found: list[_Part] = []
        while len(found) < _PARTS_MAX:
            marker = found[-1].name if found else ""
            query = {"format": "json", "prefix": f"{number}/", "marker": marker}
            _, content = await self._account.read(StoreRequest("GET", (SEGMENTS,), query))
            page = [_part(load) for load in json.loads(content or b"[]") if load["name"].rpartition("/")[2].isdigit()]
            if not page:
                break
            found += page
        return found

    async def _finish(self, upload: StoredUpload, parts: Sequence[_Part]) -> None:
        """Make one object of the parts. If this is interrupted, the next request repeats it."""
        kind = _kind_of(upload.path)
        if upload.length <= self._bounds.copied_bytes_max:
            source = (SEGMENTS, *parts[0].name.encode().split(b"/"))
            if len(parts) > 1:
                source = SEGMENTS, upload.id.encode(), b"whole"
                await self._put_manifest(source, parts, {"X-Delete-After": str(EXPIRES_S)})
            await self._copy(source, upload.path, kind)
            await self._remove(upload, parts)
        else:
            for part in parts:  # without a time they do not expire
                await self._account.send_and_close(StoreRequest("POST", (SEGMENTS, *part.name.encode().split(b"/"))))
            await self._put_manifest(upload.path, await self._group_parts(upload, parts), kind)
            await self._account.send_and_close(StoreRequest("DELETE", self._info(upload.id)), _NOT_FOUND)

    async def _group_parts(self, upload: StoredUpload, parts: Sequence[_Part]) -> Sequence[_Part]:
        """Return the parts grouped into parts, if there are more than one manifest can list."""
        most = self._bounds.manifest_entries_max
        if len(parts) <= most:
            return parts
        groups = []
        for begin in range(0, len(parts), most):
            members = parts[begin : begin + most]
            name = f"{upload.id}/group-{begin:06}"
            etag = await self._put_manifest((SEGMENTS, *name.encode().split(b"/")), members, {})
            groups.append(_Part(name, members[0].offset, sum(member.size for member in members), etag))
        return groups

    async def _put_manifest(self, path: Path, parts: Sequence[_Part], headers: dict[str, str]) -> str:
        segments = [
            {"path": f"/{SEGMENTS.decode()}/{part.name}", "size_bytes": part.size, "etag": part.etag} for part in parts
        ]
        query, body = {"multipart-manifest": "put"}, json.dumps(segments).encode()
        answer = await self._account.send_and_close(StoreRequest("PUT", path, query, headers, body, COPY_TIMEOUT_S))
        return str(answer.headers.get("Etag", "")).strip('"')

    async def _copy(self, source: Path, target: Path, headers: dict[str, str]) -> None:
        wanted = {"X-Copy-From": quote(b"/" + b"/".join(source)), "Content-Length": "0", **_NO_COPY_OF_METADATA}
        await self._account.send_and_close(
            StoreRequest("PUT", target, headers=wanted | headers, timeout_s=COPY_TIMEOUT_S)
        )

    async def _remove(self, upload: StoredUpload, parts: Sequence[_Part]) -> None:
        """Remove the state of an upload. Objects left after a failure expire."""
        await self._account.send_and_close(StoreRequest("DELETE", self._info(upload.id)), _NOT_FOUND)
        for part in parts:
            name = (SEGMENTS, *part.name.encode().split(b"/"))
            await self._account.send_and_close(StoreRequest("DELETE", name), _NOT_FOUND)
        if len(parts) > 1:
            await self._account.send_and_close(
                StoreRequest("DELETE", (SEGMENTS, upload.id.encode(), b"whole")), _NOT_FOUND
            )

    async def _check_number(self) -> None:
        query: dict[str, str | int] = {
            "format": "json",
            "prefix": f"{self._user.decode()}/",
            "limit": 10 * UNFINISHED_MAX,
        }
        _, content = await self._account.read(StoreRequest("GET", (UPLOADS,), query))
        # The store may still list expired objects until its expirer runs: treat them as absent.
        listed = json.loads(content or b"[]")
        if len(listed) < UNFINISHED_MAX:
            return
        there = 0
        for entry in listed:
            answer = await self._account.send_and_close(
                StoreRequest("HEAD", (UPLOADS, *entry["name"].encode().split(b"/"))), _NOT_FOUND
            )
            there += answer.status_code != _NOT_FOUND
        if there >= UNFINISHED_MAX:
            sentence = f"you have {UNFINISHED_MAX} unfinished uploads: end some first"
            raise ApiProblem(Code.TOO_MANY_UPLOADS, sentence)

    def _info(self, number: str) -> Path:
        return UPLOADS, self._user, number.encode()


class _Pieces:
    """A body, split into segments; `sent`: bytes of the last segment."""

    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._body = body
        self._left = b""
        self.sent = 0
        self.ended = False

    async def next_segment(self, most: int) -> AsyncIterator[bytes]:
        """Yield at most this many next bytes; after an interruption the segment is shorter."""
        self.sent = 0
        while self.sent < most:
            piece = self._left or await self._next_piece()
            if not piece:
                self.ended = True
                return
            wanted = most - self.sent
            piece, self._left = piece[:wanted], piece[wanted:]
            self.sent += len(piece)
            yield piece

    async def _next_piece(self) -> bytes:
        with suppress(StopAsyncIteration, ClientDisconnect):
            while not (piece := await anext(self._body)):
                pass
            return piece
        return b""


def _part(one: dict[str, Any]) -> _Part:
    return _Part(one["name"], int(one["name"].rpartition("/")[2]), int(one["bytes"]), str(one["hash"]))


def _kind_of(path: Path) -> dict[str, str]:
    kind, _ = mimetypes.guess_type(path[-1].decode(errors="replace"))
    return {"Content-Type": kind or "application/octet-stream"}
