"""Files of workspaces: `Client.files`. Uploads and downloads resume after a break, even in another process."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import httpx

from zoe_client import wire
from zoe_client.calls.trees import TreeFile, body_length, body_of
from zoe_client.calls.unfinished import UnfinishedTransfers
from zoe_client.errors import Busy, Conflict, NotFound, Refused, Unreachable, ZoeError
from zoe_client.http.problems import problem_of, unreachable
from zoe_client.http.transport import Transport
from zoe_client.vocabulary import WorkspaceKind
from zoe_client.words.file_paths import NAME_BYTES_MAX, path_parts, path_text

Progress = Callable[[int, int], None]
"""Callback with the bytes transferred so far, and the total."""

_PART_BYTES = 64 << 20
_PIECE_BYTES = 1 << 20
_TIMEOUT_S = 60.0
_RETRY_PAUSE_S = 0.5
# The server may still be handling an interrupted call for a moment after the next one has begun.
_OF_BEFORE = ("upload_busy", "upload_offset")
_ENDED_WITHIN_S = 10.0
_PARTIAL = ".zoe-part"


def no_progress(_done: int, _total: int) -> None:
    """Show nothing."""


class Files:
    """Files of your workspace, of the tenant's shared one, and of its accounts in the object store.

    Paths are texts (see `words/file_paths.py`). `root`: a `WorkspaceKind`, or `store:SERVICE`, where a path begins with
    the container.

    A transfer without progress for `patience_s` raises Unreachable; the next call resumes it.
    """

    def __init__(
        self,
        transport: Transport,
        http: httpx.Client,
        patience_s: float,
        unfinished: UnfinishedTransfers | None = None,
    ) -> None:
        self._transport = transport
        self._http = http
        self._patience_s = patience_s
        self._unfinished = unfinished or UnfinishedTransfers()

    def find(self, path: str, root: str = WorkspaceKind.WORKSPACE) -> wire.FileEntry:
        """Return the entry at a path; NotFound."""
        return self._page(path, root, "", 1).entry

    def list(self, path: str = "", root: str = WorkspaceKind.WORKSPACE) -> Iterator[wire.FileEntry]:
        """Yield the entries of a directory, by name."""
        after: str | None = ""
        while after is not None:
            page = self._page(path, root, after, 1000)
            yield from page.entries
            after = page.next

    def make_directory(self, path: str, root: str = WorkspaceKind.WORKSPACE) -> None:
        """Make a directory and its missing parents, unless it exists."""
        body = wire.DirectoryRequest(path=path)
        self._transport.answer("POST", f"/files/{root}/directories", body=body, again=True)

    def rename(self, path: str, to: str, root: str = WorkspaceKind.WORKSPACE) -> None:
        """Move a file or directory to another path; Conflict if that is taken."""
        self._transport.answer("POST", f"/files/{root}/rename", body=wire.RenameRequest(path=path, to=to))

    def delete(self, path: str, root: str = WorkspaceKind.WORKSPACE, *, recursive: bool = False) -> None:
        """Delete a file or a directory, which must be empty unless `recursive`."""
        self._transport.answer("DELETE", f"/files/{root}", parameters={"path": path, "recursive": recursive})

    def upload(
        self,
        source: Path,
        path: str,
        root: str = WorkspaceKind.WORKSPACE,
        progress: Progress = no_progress,
    ) -> None:
        """Copy a local file to a path, which it replaces once it is complete."""
        with source.open("rb") as file:
            found = os.fstat(file.fileno())
            key = f"up {self._transport.url} {source.resolve()} {found.st_size} {found.st_mtime_ns} {root} {path}"
            place = self._unfinished.get(key) or self._begin(path, root, found.st_size, key)
            patience = _Patience(self._patience_s)
            while True:
                try:
                    offset = self._offset(place)
                    progress(offset, found.st_size)
                    while offset < found.st_size:
                        offset = self._append(place, file, offset, found.st_size, progress)
                        patience.restart()
                    break
                except NotFound:
                    patience.allow_new_upload()
                    place = self._begin(path, root, found.st_size, key)
                except (Unreachable, Busy, Conflict, Refused) as error:
                    patience.check(error)
            self._unfinished.remove(key)

    def write_tree(
        self,
        files: Sequence[TreeFile],
        path: str = "",
        root: str = WorkspaceKind.WORKSPACE,
        progress: Progress = no_progress,
    ) -> wire.WrittenTree:
        """Write many small files below a directory with one request: up to 5,000 files and 64 MiB.

        Each appears when it is complete. Not for the object store. Without an answer for `patience_s`, Unreachable;
        then, and after a refusal, some may be there: repeat the call.
        """
        patience, total = _Patience(self._patience_s), sum(file.size for file in files)

        def sent(done: int) -> None:
            patience.restart()
            progress(done, total)

        headers = {"Content-Length": str(body_length(files)), "Content-Type": "application/octet-stream"}
        while True:
            request = self._http.build_request(
                "PUT", f"/files/{root}/tree", params={"path": path}, headers=headers, content=body_of(files, sent),
                timeout=_TIMEOUT_S,
            )  # fmt: skip
            try:
                try:
                    answer = self._http.send(request)
                except httpx.TransportError as error:
                    raise unreachable(self._http, error) from error
                if answer.is_error:
                    raise problem_of(answer)
                return self._transport.read(wire.WrittenTree, answer.content)
            except (Unreachable, Busy) as error:
                patience.check(error)

    def download(
        self,
        path: str,
        target: Path,
        root: str = WorkspaceKind.WORKSPACE,
        progress: Progress = no_progress,
    ) -> None:
        """Copy a file to a local path, which it replaces once it is complete; a symbolic link stays, and its target is
        replaced.

        Raises ZoeError for a device, a pipe or a socket, which no file may replace.
        """
        target = target.resolve()
        if target.exists() and not target.is_file():
            raise ZoeError(f"{target} is not a regular file: copy to a file, and read that")
        part = target.with_name(_partial_name(target.name))
        key = f"down {self._transport.url} {root} {path} {target.resolve()}"
        patience = _Patience(self._patience_s)
        while True:
            try:
                self._fetch(path, root, part, key, progress, patience)
                break
            except Unreachable as error:
                patience.check(error)
        part.replace(target)
        self._unfinished.remove(key)

    def _page(self, path: str, root: str, after: str, limit: int) -> wire.FileList:
        parameters = {"path": path, "after": after or None, "limit": limit}
        return self._transport.call(wire.FileList, "GET", f"/files/{root}", parameters=parameters)

    def _begin(self, path: str, root: str, length: int, key: str) -> str:
        metadata = f"path {base64.b64encode(path.encode()).decode()}"
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": str(length), "Upload-Metadata": metadata}
        answer = self._transport.answer("POST", f"/files/{root}/uploads", headers=headers)
        place = answer.headers["Location"].rpartition("/")[2]
        self._unfinished.put(key, f"/files/{root}/uploads/{place}")
        return f"/files/{root}/uploads/{place}"

    def _offset(self, place: str) -> int:
        answer = self._send(self._http.build_request("HEAD", place, headers={"Tus-Resumable": "1.0.0"}))
        return int(answer.headers["Upload-Offset"])

    def _append(self, place: str, file: BinaryIO, offset: int, size: int, progress: Progress) -> int:
        length = min(_PART_BYTES, size - offset)
        headers = {
            "Tus-Resumable": "1.0.0",
            "Upload-Offset": str(offset),
            "Content-Type": "application/offset+octet-stream",
            "Content-Length": str(length),
        }
        content = _pieces(file, offset, length, lambda done: progress(done, size))
        request = self._http.build_request("PATCH", place, headers=headers, content=content, timeout=_TIMEOUT_S)
        return int(self._send(request).headers["Upload-Offset"])

    def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            answer = self._http.send(request)
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from error
        if answer.is_error:
            raise NotFound(_upload_gone()) if answer.status_code == 404 else problem_of(answer)
        return answer

    def _fetch(self, path: str, root: str, part: Path, key: str, progress: Progress, patience: _Patience) -> None:
        """Download the missing part of a file, or the whole file if it has changed."""
        tag, have = self._unfinished.get(key), 0
        with suppress(OSError):
            have = part.stat().st_size if tag else 0
        headers = {"Range": f"bytes={have}-", "If-Range": tag} if tag and have else {}
        request = self._http.build_request(
            "GET", f"/files/{root}/content", params={"path": path}, headers=headers, timeout=_TIMEOUT_S
        )
        try:
            answer = self._http.send(request, stream=True)
            try:
                if answer.status_code == 416:  # The file may be complete; only a download from its beginning can tell.
                    self._unfinished.remove(key)
                    raise Unreachable("the file changed while it was copied")
                if answer.is_error:
                    answer.read()
                    raise problem_of(answer)
                begin = have if answer.status_code == 206 else 0
                total = begin + int(answer.headers["Content-Length"])
                self._unfinished.put(key, answer.headers["ETag"])
                with part.open("r+b" if begin else "wb") as file:
                    file.seek(begin)
                    file.truncate()
                    for piece in answer.iter_raw(_PIECE_BYTES):
                        file.write(piece)
                        patience.restart()
                        progress(file.tell(), total)
                    if file.tell() != total:
                        raise Unreachable("the server closed the connection before the end of the file")
            finally:
                answer.close()
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from error


class _Patience:
    """Time limit for a transfer without progress."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._begun_again = False
        self.restart()

    def restart(self) -> None:
        """Restart the clock."""
        self._since_s = time.monotonic()

    def allow_new_upload(self) -> None:
        """Allow the upload to begin again, once."""
        if self._begun_again:
            raise ZoeError("another program removed the upload: repeat the copy")
        self._begun_again = True

    def check(self, error: ZoeError) -> None:
        """Pause before the next try, or raise the error if it is permanent or has lasted too long."""
        left_s = self._since_s + self._patience_s - time.monotonic()
        if isinstance(error, Refused) and error.problem.code in _OF_BEFORE:
            left_s += _ENDED_WITHIN_S
        elif not isinstance(error, (Unreachable, Busy)):
            raise error
        if left_s <= 0:
            raise error
        time.sleep(_RETRY_PAUSE_S)


def _pieces(file: BinaryIO, offset: int, length: int, sent: Callable[[int], None]) -> Iterator[bytes]:
    file.seek(offset)
    end = offset + length
    while offset < end:
        piece = file.read(min(_PIECE_BYTES, end - offset))
        if not piece:
            raise ZoeError("the file became shorter while it was sent")
        yield piece
        offset += len(piece)
        sent(offset)


def _partial_name(name: str) -> str:
    """Return the temporary name of a download: its final name with a suffix, or a digest if that is too long."""
    if len(os.fsencode(name)) + len(_PARTIAL) > NAME_BYTES_MAX:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return name + _PARTIAL


def _upload_gone() -> wire.Problem:
    return wire.Problem(title="There is no such unfinished upload", status=404, code="upload_gone")


def local_name(entry: wire.FileEntry) -> str:
    """Return the local name for an entry; InvalidPath, ZoeError."""
    parts = path_parts(entry.name)
    if len(parts) != 1:
        raise ZoeError(f"{entry.name!r} is not a name")
    return os.fsdecode(parts[0])


def remote_name(path: Path) -> str:
    """Return a local file's name as the text of a path."""
    return path_text(os.fsencode(path.name))
