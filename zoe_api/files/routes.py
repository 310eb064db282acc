"""Files of the user's workspace, of the tenant's shared one, and of the tenant's accounts in the object store."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import httpx
from fastapi import Header, Path, Query, Request, Response
from starlette.requests import ClientDisconnect

from zoe_api.access.access import AsReader, AsSubmitter, still_allowed
from zoe_api.files.archives import archive_bytes, contents_of
from zoe_api.files.sources import ProgramFiles, check_paths, source_of
from zoe_api.files.transfers import AccessEnded, FileContent, drain, pieces_of, while_allowed
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.http.routing import CLIENT_LEFT, api_router
from zoe_api.services.dependencies import Caller
from zoe_client.vocabulary import STORE_ROOT, WorkspaceKind
from zoe_client.wire import DirectoryRequest, FileList, RenameRequest, WrittenTree
from zoe_client.words.file_paths import path_parts

T = TypeVar("T")
router = api_router("/files/{root}", tag="files")

Root = Annotated[
    str,
    Path(
        pattern=rf"^({'|'.join(WorkspaceKind)}|{STORE_ROOT}[\w.-]{{1,100}})$",
        description="`workspace`: your own; `shared`: that of all users of the tenant; `store:SERVICE`: the tenant's "
        "account in a service of the object store, whose containers are directories.",
    ),
]
_SAID = "Names, joined by `/`; a byte that is not UTF-8, a character that does not print, and `%` are written `%XX`."
FilePath = Annotated[str, Query(description=_SAID, max_length=16_384)]
UploadId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
Length = Annotated[int, Header(ge=0, le=2**53)]
_TUS = {"Tus-Resumable": "1.0.0"}
_KEPT = ("content-length", "content-range", "etag", "accept-ranges", "last-modified")
_NOT_SHOWN = {
    # A browser must never run the content of a file, or show it as a page of this origin.
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@router.get("", response_model=FileList)
async def list_files(
    root: Root,
    caller: AsReader,
    path: FilePath = "",
    after: Annotated[str, Query(max_length=1024, description="`next` of the previous page.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> Any:
    """Return the file or directory at a path, with a directory's entries page by page."""
    source = await source_of(root, caller)
    return await source.list(path, after, limit)


@router.get("/content", response_class=Response)
async def read_file(
    root: Root,
    caller: AsReader,
    path: FilePath,
) -> Response:
    """Return the content of a file, as an attachment. `Range` is supported, and `If-Range` with the `ETag`."""
    wanted = {name: caller.request.headers[name] for name in ("range", "if-range") if name in caller.request.headers}
    source = await source_of(root, caller)
    answer = await source.content(path, wanted)
    place = caller.services.streams.request(caller.user)
    headers = _headers_of(answer, path)
    return FileContent(pieces_of(answer), headers, _access_check(caller), place, answer.aclose, answer.status_code)


@router.get("/archive", response_class=Response)
async def read_archive(
    root: Root,
    caller: AsReader,
    path: Annotated[list[FilePath], Query(min_length=1, max_length=1000)],
) -> Response:
    """Return files and directories as one zip archive, as an attachment: at most 10,000 files. Links to directories are
    left out, and so is what is neither a file nor a directory; `LEFT-OUT.txt` in the archive names them.
    """
    source = await source_of(root, caller)
    pieces = archive_bytes(source, await contents_of(source, path))
    name = path_parts(path[0])[-1:] if len(path) == 1 else ()
    headers = _attachment(f"{quote(name[0] if name else 'files', safe='')}.zip")
    place = caller.services.streams.request(caller.user)
    return FileContent(pieces, headers, _access_check(caller), place, pieces.aclose)


@router.head("/content", response_class=Response)
async def look_at_file(
    root: Root,
    caller: AsReader,
    path: FilePath,
) -> Response:
    """Return the headers of `GET` for the whole content, without it."""
    source = await source_of(root, caller)
    answer = await source.content(path, {})
    await answer.aclose()
    return Response(status_code=200, headers=_headers_of(answer, path), media_type="application/octet-stream")


def _headers_of(answer: httpx.Response, path: str) -> dict[str, str]:
    name = quote(path_parts(path)[-1], safe="")
    kept = {key: answer.headers[key] for key in _KEPT if key in answer.headers}
    return kept | _attachment(name)


def _attachment(name: str) -> dict[str, str]:
    return {**_NOT_SHOWN, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}


@router.post("/directories", status_code=204)
async def make_directory(root: Root, body: DirectoryRequest, caller: AsSubmitter) -> Response:
    """Make a directory and its parents, unless it exists."""
    check_paths(body.path)
    note_changes(caller.request, {}, {"path": body.path})
    source = await source_of(root, caller)
    await source.make_directory(body.path)
    return Response(status_code=204)


@router.post("/rename", status_code=204)
async def rename_file(root: Root, body: RenameRequest, caller: AsSubmitter) -> Response:
    """Move a file or a directory to another path, which must be free."""
    check_paths(body.path, body.to)
    note_changes(caller.request, {"path": body.path}, {"path": body.to})
    source = await source_of(root, caller)
    await source.rename(body.path, body.to)
    return Response(status_code=204)


@router.delete("", status_code=204)
async def delete_file(
    root: Root,
    caller: AsSubmitter,
    path: FilePath,
    recursive: Annotated[bool, Query(description="Also delete the contents of a directory.")] = False,
) -> Response:
    """Delete a file or a directory; for a link, only the link."""
    check_paths(path)
    note_changes(caller.request, {"path": path}, {})
    source = await source_of(root, caller)
    await source.delete(path, recursive=recursive)
    return Response(status_code=204)


@router.put("/tree", response_model=WrittenTree)
async def write_tree(
    root: Root, request: Request, caller: AsSubmitter, content_length: Length, path: FilePath = ""
) -> Any:
    """Write many small files below a directory with one request, up to 10,000 files and 80 MiB.

    The body has for each file a line of JSON, `{"path": PATH, "size": BYTES}` with optional `mode` and `sha256`, and
    then its bytes; `{"path": PATH, "directory": true}` makes a directory, `{"path": PATH, "link": PATH}` a second name
    of a file. Each file appears when it is complete, and
    replaces one of its name. After a refusal, the files before it stay; repeat the request.
    """
    check_paths(path)
    note_changes(caller.request, {}, {"path": path})
    source = await source_of(root, caller)
    if not isinstance(source, ProgramFiles):
        raise ApiProblem(Code.WRONG_KIND, "the object store takes one object at a time: use uploads")
    body = while_allowed(request.stream(), _access_check(caller))
    written = await _received(request, caller, lambda: source.write_tree(path, content_length, body))
    if written is None:
        return Response(status_code=CLIENT_LEFT)
    note_changes(caller.request, {}, {"files": written.files, "size_bytes": written.size_bytes})
    return written


@router.post("/uploads", status_code=201)
async def begin_upload(
    root: Root,
    caller: AsSubmitter,
    upload_length: Length,
    upload_metadata: Annotated[str, Header(max_length=32_768, description="`path` and its value in Base64.")],
) -> Response:
    """Begin an upload (tus 1.0); `Location` is the URL for its parts. One without content is complete at once.

    The file appears when it is complete, and replaces one of the same path.
    """
    path = _path_in(upload_metadata)
    check_paths(path)
    note_changes(caller.request, {}, {"path": path, "size_bytes": upload_length})
    source = await source_of(root, caller)
    upload = await source.begin_upload(path, upload_length)
    place = f"{PREFIX}/files/{root}/uploads/{upload.id}"
    return Response(status_code=201, headers={**_TUS, **upload.headers, "Location": place})


@router.head("/uploads/{upload_id}")
async def find_upload(root: Root, upload_id: UploadId, caller: AsSubmitter) -> Response:
    """Return the received bytes of an upload (tus 1.0)."""
    source = await source_of(root, caller)
    upload = await source.find_upload(upload_id)
    return Response(headers={**_TUS, **upload.headers})


@router.patch("/uploads/{upload_id}", status_code=204)
async def append_to_upload(
    root: Root,
    upload_id: UploadId,
    request: Request,
    caller: AsSubmitter,
    upload_offset: Length,
    content_length: Length,
) -> Response:
    """Append a part to an upload (tus 1.0). Bytes received before an interruption stay; ask for the offset, and
    continue there.
    """
    if caller.request.headers.get("content-type") != "application/offset+octet-stream":
        raise ApiProblem(Code.INVALID_UPLOAD, "the Content-Type must be application/offset+octet-stream")
    body = while_allowed(request.stream(), _access_check(caller))
    source = await source_of(root, caller)
    upload = await _received(request, caller, lambda: source.append(upload_id, upload_offset, content_length, body))
    if upload is None:
        return Response(status_code=CLIENT_LEFT)
    return Response(status_code=204, headers={**_TUS, **upload.headers})


@router.delete("/uploads/{upload_id}", status_code=204)
async def end_upload(root: Root, upload_id: UploadId, caller: AsSubmitter) -> Response:
    """Cancel an unfinished upload (tus 1.0)."""
    source = await source_of(root, caller)
    await source.end_upload(upload_id)
    return Response(status_code=204, headers=_TUS)


async def _received(request: Request, caller: Caller, write: Callable[[], Awaitable[T]]) -> T | None:
    """Return what was written of a request's body, which counts as a stream; None if the client has left."""
    with caller.services.streams.request(caller.user):
        try:
            return await write()
        except ApiProblem:
            await drain(request)
            raise
        except AccessEnded:
            raise ApiProblem(Code.BAD_TOKEN) from None
        except ClientDisconnect:
            return None


def _access_check(caller: Caller) -> Callable[[], bool]:
    return partial(still_allowed, caller.services.accounts, caller.principal)


def _path_in(metadata: str) -> str:
    pairs = dict(pair.strip().partition(" ")[::2] for pair in metadata.split(","))
    with suppress(KeyError, binascii.Error, UnicodeDecodeError):
        return base64.b64decode(pairs["path"], validate=True).decode()
    raise ApiProblem(Code.INVALID_UPLOAD, "Upload-Metadata must have `path` and its value in Base64")
