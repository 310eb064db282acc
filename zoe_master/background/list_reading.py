"""Read the list of an array from its owner's workspace, by the owner's file program, as the owner.

So the kernel checks access: no process of Zoe follows a link in a workspace, and it works wherever the workspace is
mounted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import httpx

from zoe_client.vocabulary import ListProblem
from zoe_client.words.connections import failure_words
from zoe_lib.domain.applications.entries import LIST_BYTES_MAX
from zoe_lib.domain.applications.entry_reading import ListRefused
from zoe_lib.domain.executions.arrays import Array
from zoe_master.backends.base import BackendError, Endpoint, SystemUser

READ_S = 30.0
"""Time limit of a read. The user may slow the program down, and it occupies one worker meanwhile."""
_TIMEOUT = httpx.Timeout(10.0, connect=5.0)
_REFUSAL_BYTES_MAX = 65_536
_SHOWN_MAX = 200
_HERE = "127.0.0.1"
Files = Callable[[str, str, SystemUser | None], Endpoint]
"""`Backend.files`."""


class ListUnavailable(Exception):  # noqa: N818 - the name is the fact
    """A list cannot be read now; a retry may help. The message is a sentence for its user."""


def read_list(files: Files, system_user: SystemUser | None, array: Array) -> bytes:
    """Return the content of an array's list, at most one byte beyond the limit; ListRefused, ListUnavailable."""
    assert array.entries is not None
    try:
        endpoint = files(array.tenant, array.user, system_user)
        return asyncio.run(_within_bound(endpoint, array.entries.path))
    except BackendError as error:
        raise ListUnavailable(str(error)) from None
    except httpx.HTTPError as error:
        raise ListUnavailable(f"the program that serves the files does not answer: {failure_words(error)}") from None


async def _within_bound(endpoint: Endpoint, path: str) -> bytes:
    try:
        async with asyncio.timeout(READ_S):
            return await _content(endpoint, path)
    except TimeoutError:
        raise ListUnavailable(f"the list was not read within {READ_S:g} s") from None


async def _content(endpoint: Endpoint, path: str) -> bytes:
    url = f"http://{endpoint.host or _HERE}:{endpoint.port}/workspace/content"
    headers = {"Authorization": f"Bearer {endpoint.secret}", "Range": f"bytes=0-{LIST_BYTES_MAX}"}
    async with (
        httpx.AsyncClient(timeout=_TIMEOUT, trust_env=False) as client,
        client.stream("GET", url, params={"path": path}, headers=headers) as answer,
    ):
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return b""  # the file is empty
        if answer.is_error:
            raise _refusal(answer.status_code, await _read_bounded(answer, _REFUSAL_BYTES_MAX))
        return await _read_bounded(answer, LIST_BYTES_MAX + 1)


async def _read_bounded(answer: httpx.Response, most: int) -> bytes:
    content = bytearray()
    async for piece in answer.aiter_raw():
        content += piece
        if len(content) >= most:
            break
    return bytes(content[:most])


def _refusal(status: int, content: bytes) -> Exception:
    """Return the error of the program; the program runs as the user, so its text is not trusted."""
    try:
        said = str(json.loads(content)["detail"])[:_SHOWN_MAX]
    except (ValueError, KeyError, TypeError):
        said = f"status {status}"
    if status == httpx.codes.NOT_FOUND:
        return ListRefused(ListProblem.MISSING, f"the list does not exist: {said}", "run the workflow again")
    if status in (httpx.codes.CONFLICT, httpx.codes.UNPROCESSABLE_ENTITY):
        return ListRefused(ListProblem.NOT_A_LIST, f"the list is not a file: {said}", "let the step write a file")
    if status == httpx.codes.FORBIDDEN:
        return ListRefused(ListProblem.UNREADABLE, f"the list cannot be read: {said}", "let the step write a file")
    return ListUnavailable(f"the list cannot be read: {said}")
