"""Make directories, rename, delete, in an account."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.objects.account import COPY_TIMEOUT_S, Account, Path, StoreRequest, can_be_sent
from zoe_api.services.objects.listing import MARKER_TYPE, entry_of, names_below, prefix_of
from zoe_api.services.objects.name_claims import NameClaims, hold_claims
from zoe_client.words.file_paths import joined_path
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_NOT_FOUND = 404
_AT_ONCE = 8
_PAGE = 1000
_DELETED_MAX = 10_000
_TIME_S = 60.0


async def make_directory(account: Account, path: Path) -> None:
    """Make a container, or an empty object that marks a directory in one, unless it exists; ApiProblem."""
    if not path:
        return
    await account.send_and_close(StoreRequest("PUT", path[:1]))
    if len(path) == 1:
        return
    try:
        found = await entry_of(account, path)
    except ApiProblem as problem:
        if problem.problem.code != Code.NOT_FOUND:
            raise
        marker = (*path, b"")
        await account.send_and_close(StoreRequest("PUT", marker, headers={"Content-Type": MARKER_TYPE}, body=b""))
        return
    if found.kind != "directory":
        raise ApiProblem(Code.FILE_EXISTS, f"{joined_path(path)} exists")


async def rename(account: Account, path: Path, to: Path, claims: NameClaims) -> None:
    """Copy an object to a free name, and delete it; ApiProblem for directories."""
    if len(path) < 2 or len(to) < 2 or (await entry_of(account, path)).kind != "file":
        raise ApiProblem(Code.WRONG_KIND, "the object store renames objects only: copy what is in the directory")
    async with hold_claims(claims, account, path, to):
        await _copy_and_delete(account, path, to)


async def _copy_and_delete(account: Account, path: Path, to: Path) -> None:
    # From the newest copy: another may lack an object that a rename has just written.
    target = await account.send_and_close(StoreRequest("HEAD", to, headers={"X-Newest": "true"}), _NOT_FOUND)
    if target.status_code != _NOT_FOUND:
        raise ApiProblem(Code.FILE_EXISTS, f"{joined_path(to)} exists")
    headers = {"X-Copy-From": quote(b"/" + b"/".join(path)), "Content-Length": "0"}
    # Of a large object, the list of its segments is copied.
    query = {"multipart-manifest": "get"}
    await account.send_and_close(StoreRequest("PUT", to, query, headers, timeout_s=COPY_TIMEOUT_S))
    await account.send_and_close(StoreRequest("DELETE", path), _NOT_FOUND)


async def delete(account: Account, path: Path, *, recursive: bool) -> None:
    """Delete an object, or a directory, which must be empty unless `recursive`; ApiProblem."""
    if not path:
        raise ApiProblem(Code.INVALID_PATH, "the account itself cannot be deleted")
    found = await entry_of(account, path)
    if found.kind == "file":
        await _delete_object(account, path)
    else:
        await _delete_directory(account, path, recursive=recursive)


async def _delete_directory(account: Account, path: Path, *, recursive: bool, clock: Clock = SYSTEM_CLOCK) -> None:
    deleted, left, after, until_s = 0, 0, "", clock.monotonic_s() + _TIME_S
    # Each page begins after the previous one, so that an object that stays cannot be listed again for ever.
    while found := await names_below(account, path, _PAGE, after):
        names = [str(entry["name"]) for entry in found]
        after = names[-1]
        if not recursive and names != [prefix_of(path)]:
            raise ApiProblem(Code.WRONG_KIND, f"{joined_path(path)} is not empty")
        sent = [entry for entry in found if can_be_sent(_path_of_entry(path[:1], entry))]
        await _delete_all(account, path[:1], sent)
        deleted += len(sent)
        left += len(found) - len(sent)
        if deleted and (deleted >= _DELETED_MAX or clock.monotonic_s() > until_s):
            raise ApiProblem(Code.FILES_BUSY, f"{deleted} objects are deleted, and there may be more: repeat it")
        if not recursive or clock.monotonic_s() > until_s:
            break
    if left:
        why = (
            f"{joined_path(path)} still has {left} objects with a part `.` or `..` in their names; the rest is deleted"
        )
        raise ApiProblem(Code.WRONG_KIND, why, "delete them with a client of Swift itself, such as python-swiftclient")
    # The container, or the marker of a directory as other programs write it.
    await account.send_and_close(StoreRequest("DELETE", path), _NOT_FOUND)


async def _delete_all(account: Account, container: Path, found: Sequence[dict[str, Any]]) -> None:
    places = asyncio.Semaphore(_AT_ONCE)

    async def delete_one(entry: dict[str, Any]) -> None:
        async with places:
            query = {"multipart-manifest": "delete"} if "slo_etag" in entry else {}
            await account.send_and_close(StoreRequest("DELETE", _path_of_entry(container, entry), query), _NOT_FOUND)

    for result in await asyncio.gather(*map(delete_one, found), return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


def _path_of_entry(container: Path, entry: Mapping[str, Any]) -> Path:
    return (*container, *str(entry["name"]).encode().split(b"/"))


async def _delete_object(account: Account, path: Path) -> None:
    answer = await account.send_and_close(StoreRequest("HEAD", path), _NOT_FOUND)
    is_large = answer.headers.get("X-Static-Large-Object", "").lower() == "true"
    query = {"multipart-manifest": "delete"} if is_large else {}
    await account.send_and_close(StoreRequest("DELETE", path, query), _NOT_FOUND)
