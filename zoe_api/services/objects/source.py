"""Files in the object store: the account of one tenant, for the routes of files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate

import httpx

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.objects.account import Account, Path, StoreRequest, SwiftClient, SwiftLogin
from zoe_api.services.objects.changes import delete, make_directory, rename
from zoe_api.services.objects.listing import HIDDEN, list_entries
from zoe_api.services.objects.name_claims import NameClaims
from zoe_api.services.objects.upload_state import UploadState
from zoe_api.services.objects.uploads import StoredUpload, StoredUploads, UploadBounds, UploadMemory
from zoe_client.wire import FileList
from zoe_client.words.file_paths import InvalidPath, path_parts

_CHANGED = 412
_KEPT = ("content-length", "content-range", "last-modified")


@dataclass(slots=True)
class ObjectStores:
    """State that the process keeps for all accounts."""

    client: SwiftClient = field(default_factory=SwiftClient)
    uploads: UploadMemory = field(default_factory=UploadMemory)

    async def close(self) -> None:
        """Close every connection."""
        await self.client.close()


class StoreFiles:
    """The containers and objects of an account as directories and files."""

    def __init__(
        self, stores: ObjectStores, login: SwiftLogin, user: str, bounds: UploadBounds, claims: NameClaims
    ) -> None:
        self._account = Account(stores.client, login)
        self._claims = claims
        self._uploads = StoredUploads(self._account, user, bounds, stores.uploads)

    async def list(self, path: str, after: str, limit: int) -> FileList:
        """Return the entry at a path, with a directory's entries."""
        return await list_entries(self._account, _parts(path), after, limit)

    async def content(self, path: str, wanted: Mapping[str, str]) -> httpx.Response:
        """Return the content of an object, subject to the headers `Range` and `If-Range`."""
        parts = _object(path)
        # As in workspaces: the whole content for several ranges, which Swift would answer with a multipart body.
        headers = {"Range": wanted["range"]} if "," not in wanted.get("range", ",") else {}
        # Swift does not support If-Range.
        unchanged = {"If-Match": wanted["if-range"].strip('"')} if headers and "if-range" in wanted else {}
        answer = await self._account.open_response(StoreRequest("GET", parts, headers=headers | unchanged), _CHANGED)
        if answer.status_code == _CHANGED:
            await answer.aclose()
            answer = await self._account.open_response(StoreRequest("GET", parts))
        kept = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
        tag = answer.headers.get("etag", "").strip('"')
        answer.headers = httpx.Headers({**kept, "etag": f'"{tag}"', "accept-ranges": "bytes"})
        return answer

    async def make_directory(self, path: str) -> None:
        """Make a container, or a directory in one, unless it exists."""
        await make_directory(self._account, _parts(path))

    async def rename(self, path: str, to: str) -> None:
        """Move an object to another name, which must be free."""
        await rename(self._account, _parts(path), _parts(to), self._claims)

    async def delete(self, path: str, *, recursive: bool) -> None:
        """Delete an object or a directory."""
        await delete(self._account, _parts(path), recursive=recursive)

    async def begin_upload(self, path: str, length: int) -> UploadState:
        """Begin an upload to a path."""
        return _state(await self._uploads.create(_object(path), length))

    async def find_upload(self, number: str) -> UploadState:
        """Return the received bytes of an upload."""
        return _state(await self._uploads.find(number))

    async def append(self, number: str, offset: int, length: int, body: AsyncIterator[bytes]) -> UploadState:
        """Append a part to an upload."""
        return _state(await self._uploads.append(number, offset, length, body))

    async def end_upload(self, number: str) -> None:
        """Remove an unfinished upload."""
        await self._uploads.end(number)


def _state(upload: StoredUpload) -> UploadState:
    expires = formatdate(upload.expires_at_s, usegmt=True)
    offset, length = str(upload.offset), str(upload.length)
    return UploadState(upload.id, {"Upload-Offset": offset, "Upload-Length": length, "Upload-Expires": expires})


def _parts(text: str) -> Path:
    try:
        parts = path_parts(text)
        for part in parts:
            part.decode()
    except (InvalidPath, UnicodeDecodeError) as error:
        why = "names in the object store are UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise ApiProblem(Code.INVALID_PATH, why) from None
    if parts and parts[0].decode().startswith(HIDDEN):
        raise ApiProblem(Code.NOT_FOUND, f"{text} is reserved for Zoe")
    return parts


def _object(text: str) -> Path:
    parts = _parts(text)
    if len(parts) < 2:
        raise ApiProblem(Code.WRONG_KIND, "name a container and a file in it, such as container/data.csv")
    return parts
