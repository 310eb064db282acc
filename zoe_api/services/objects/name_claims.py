"""Claims on names in the object store: two requests never rename from or to one name at the same time.

Swift has no request that creates an object only if none is there: object servers check `If-None-Match: *` before they
write, so two requests pass it at the same moment, and for a copy the condition applies to the source.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Protocol

from starlette.concurrency import run_in_threadpool

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.objects.account import COPY_TIMEOUT_S, Account, Path
from zoe_client.words.file_paths import joined_path
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.errors import ConcurrentUpdate

# Longer than a copy inside the store and the requests around it.
HELD_S = COPY_TIMEOUT_S + 200.0
# Allows for clock differences between API machines.
_SLACK_S = 120.0


class NameClaims(Protocol):
    """Storage for the claims of all API processes; each call may block."""

    def claim_names(self, ids: Collection[str], holder: str, now_s: float, until_s: float) -> None:
        """Claim all names; ConcurrentUpdate if one is claimed by another holder."""

    def release_names(self, holder: str) -> None:
        """Remove the claims of a holder."""


@asynccontextmanager
async def hold_claims(
    claims: NameClaims, account: Account, *paths: Path, clock: Clock = SYSTEM_CLOCK
) -> AsyncIterator[None]:
    """Hold claims on names of an account, for HELD_S at most; ApiProblem if another request holds one.

    If the store has not answered, the claims stay until they expire: it may still be at work.
    """
    address, holder, now_s = await account.address(), secrets.token_hex(16), clock.now_s()
    ids = [hashlib.sha256(b"/".join((address.encode(), *path))).hexdigest() for path in paths]
    try:
        await run_in_threadpool(claims.claim_names, ids, holder, now_s, now_s + HELD_S + _SLACK_S)
    except ConcurrentUpdate:
        shown = " or ".join(map(joined_path, paths))
        raise ApiProblem(Code.FILES_BUSY, f"another rename of {shown} is under way; try again soon") from None
    try:
        async with asyncio.timeout(HELD_S):
            yield
    except TimeoutError:
        raise ApiProblem(Code.FILES_UNAVAILABLE, "the object store takes too long") from None
    except ApiProblem as problem:
        if problem.problem.code != Code.FILES_UNAVAILABLE:
            await run_in_threadpool(claims.release_names, holder)
        raise
    else:
        await run_in_threadpool(claims.release_names, holder)
