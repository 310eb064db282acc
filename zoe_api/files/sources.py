"""Sources of files: the file program of their user, or the object store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

import httpx
from starlette.concurrency import run_in_threadpool

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller
from zoe_api.services.file_programs import FileRequest
from zoe_api.services.objects.account import SwiftLogin
from zoe_api.services.objects.source import StoreFiles
from zoe_api.services.objects.upload_state import UploadState
from zoe_api.services.objects.uploads import UploadBounds
from zoe_client.vocabulary import STORE_ROOT
from zoe_client.wire import FileList, WrittenTree
from zoe_client.words.file_paths import InvalidPath, path_parts
from zoe_lib.sealing import CannotOpen, Seal

_S3 = "s3a"


class FileSource(Protocol):
    """The operations on files. Paths are texts of `zoe_client.words.file_paths`; each method raises ApiProblem."""

    async def list(self, path: str, after: str, limit: int) -> FileList:
        """Return the file or directory at a path, with a directory's entries."""

    async def content(self, path: str, wanted: Mapping[str, str]) -> httpx.Response:
        """Return the content of a file, subject to the headers `range` and `if-range`."""

    async def make_directory(self, path: str) -> None:
        """Make a directory and its parents, unless it exists."""

    async def rename(self, path: str, to: str) -> None:
        """Move a file or directory to another path, which must be free."""

    async def delete(self, path: str, *, recursive: bool) -> None:
        """Delete a file or a directory, which must be empty unless `recursive`."""

    async def begin_upload(self, path: str, length: int) -> UploadState:
        """Begin an upload to a path; one without content is complete at once."""

    async def find_upload(self, number: str) -> UploadState:
        """Return the received bytes of an upload."""

    async def append(self, number: str, offset: int, length: int, body: AsyncIterator[bytes]) -> UploadState:
        """Append a part to an upload, which is complete with the last one."""

    async def end_upload(self, number: str) -> None:
        """Remove an unfinished upload."""


async def source_of(root: str, caller: Caller) -> FileSource:
    """Return the source for a root: `workspace`, `shared`, or `store:SERVICE`; ApiProblem."""
    if not root.startswith(STORE_ROOT):
        return ProgramFiles(root, caller)
    login = await run_in_threadpool(_login_of, root.removeprefix(STORE_ROOT), caller)
    bounds = UploadBounds(caller.services.settings.files_upload_bytes_max)
    return StoreFiles(caller.services.objects, login, caller.user, bounds, caller.services.accounts)


def _login_of(service: str, caller: Caller) -> SwiftLogin:
    """Return the tenant's credential for a service of the object store; ApiProblem."""
    place = caller.services.settings.storage_services.get(service)
    if place is None:
        raise ApiProblem(Code.NOT_FOUND, f"object-store service {service[:200]!r} does not exist")
    auth_url = place.swift_url if service == _S3 else place.swift_url or place.url
    if not auth_url:
        raise ApiProblem(Code.WRONG_KIND, f"files of {service} are not shown: its setting has no swift_url")
    found = caller.services.accounts.storage_credentials(caller.tenant)
    credential = next((credential for credential in found if credential.service == service), None)
    if credential is None:
        hint = f"zoe storage credentials set {service} --user LOGIN"
        raise ApiProblem(Code.FILE_DENIED, f"your tenant has no credential for {service}", hint)
    try:
        seal = Seal.from_keys_dir(caller.services.settings.keys_dir)
        key = seal.decrypt(credential.sealed, caller.tenant, service, credential.login)
    except CannotOpen:
        raise ApiProblem(Code.FILE_DENIED, f"cannot decrypt the credential for {service}: set it again") from None
    return SwiftLogin(service, auth_url, credential.login, key)


class ProgramFiles:
    """Files of a workspace, served by the file program of their user."""

    def __init__(self, root: str, caller: Caller) -> None:
        self._root = root
        self._caller = caller
        self._files = caller.services.files

    async def list(self, path: str, after: str, limit: int) -> FileList:
        """Return the file or directory at a path, with a directory's entries."""
        query: dict[str, str | int | list[str]] = {"path": path, "after": after, "limit": limit}
        answer = await self._send_request(FileRequest("GET", f"/{self._root}", query))
        return FileList.model_validate_json(await self._files.content(answer))

    async def content(self, path: str, wanted: Mapping[str, str]) -> httpx.Response:
        """Return the content of a file."""
        return await self._send_request(FileRequest("GET", f"/{self._root}/content", {"path": path}, wanted))

    async def make_directory(self, path: str) -> None:
        """Make a directory and its parents, unless it exists."""
        await self._send_and_close(FileRequest("POST", f"/{self._root}/directories", {"path": path}))

    async def rename(self, path: str, to: str) -> None:
        """Move a file or directory to another path."""
        await self._send_and_close(FileRequest("POST", f"/{self._root}/rename", {"path": path, "to": to}))

    async def delete(self, path: str, *, recursive: bool) -> None:
        """Delete a file or a directory."""
        query: dict[str, str | int | list[str]] = {"path": path, "recursive": str(recursive).lower()}
        await self._send_and_close(FileRequest("DELETE", f"/{self._root}", query))

    async def write_tree(self, path: str, length: int, body: AsyncIterator[bytes]) -> WrittenTree:
        """Write many files below a directory."""
        headers = {"Content-Length": str(length)}
        answer = await self._send_request(FileRequest("PUT", f"/{self._root}/tree", {"path": path}, headers, body))
        return WrittenTree.model_validate_json(await self._files.content(answer))

    async def begin_upload(self, path: str, length: int) -> UploadState:
        """Begin an upload to a path."""
        headers = {"Upload-Length": str(length)}
        return await self._state(FileRequest("POST", f"/{self._root}/uploads", {"path": path}, headers))

    async def find_upload(self, number: str) -> UploadState:
        """Return the received bytes of an upload."""
        return await self._state(FileRequest("HEAD", f"/{self._root}/uploads/{number}"))

    async def append(self, number: str, offset: int, length: int, body: AsyncIterator[bytes]) -> UploadState:
        """Append a part to an upload."""
        headers = {"Upload-Offset": str(offset), "Content-Length": str(length)}
        return await self._state(FileRequest("PATCH", f"/{self._root}/uploads/{number}", {}, headers, body))

    async def end_upload(self, number: str) -> None:
        """Remove an unfinished upload."""
        await self._send_and_close(FileRequest("DELETE", f"/{self._root}/uploads/{number}"))

    async def _state(self, wanted: FileRequest) -> UploadState:
        answer = await self._send_request(wanted)
        await answer.aclose()
        names = ("Upload-Offset", "Upload-Length", "Upload-Expires")
        return UploadState(
            answer.headers.get("upload-id", ""),
            {name: answer.headers[name] for name in names if name in answer.headers},
        )

    async def _send_and_close(self, wanted: FileRequest) -> None:
        """Send a request whose response has no content."""
        answer = await self._send_request(wanted)
        await answer.aclose()

    async def _send_request(self, wanted: FileRequest) -> httpx.Response:
        check_paths(*(str(wanted.query.get(name, "")) for name in ("path", "to", "after")))
        caller = self._caller
        return await self._files.answer(caller.services.master.ask, caller.principal, wanted, caller.request_id)


def check_paths(*paths: str) -> None:
    """Raise ApiProblem for an invalid path, before it reaches the audit log, which holds texts only."""
    for path in paths:
        try:
            path_parts(path)
        except InvalidPath as error:
            raise ApiProblem(Code.INVALID_PATH, str(error)) from None
