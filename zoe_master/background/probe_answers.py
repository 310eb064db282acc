"""HTTP requests to untrusted programs, each with limits on time and bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx

from zoe_client.http.tls import trust_of_this_machine
from zoe_client.words.connections import failure_words
from zoe_master.backends.base import PortAddress

TIMEOUT_S = 3.0
ANSWER_BYTES_MAX = 64 << 10


class NoReading(Exception):  # noqa: N818 - the name is the fact
    """There is no measurement; the text says why."""


class ProbeAnswers:
    """Asks servers over HTTP. Redirects are not followed: they could lead anywhere."""

    def __init__(self, timeout_s: float = TIMEOUT_S, trusting: str = "http://") -> None:
        self._timeout_s = timeout_s
        self._trusted = trust_of_this_machine(trusting)

    def ask_port(self, where: PortAddress, path: str, bytes_max: int = ANSWER_BYTES_MAX) -> bytes:
        """Return the response of a service's port at a path; NoReading."""
        host = f"[{where.host}]" if ":" in where.host else where.host
        return self.ask_url(f"http://{host}:{where.port}{path}", where.headers, bytes_max)

    def ask_url(self, url: str, headers: Mapping[str, str], bytes_max: int = ANSWER_BYTES_MAX) -> bytes:
        """Return the response to a request; NoReading.

        Only asyncio limits a whole request: a response that arrives byte by byte never exceeds a socket's timeout.
        """
        try:
            return asyncio.run(self._get(url, headers, bytes_max))
        except TimeoutError:
            raise NoReading(f"no answer within {self._timeout_s:g} s") from None
        except httpx.InvalidURL:
            raise NoReading("its URL is not valid") from None
        except httpx.HTTPError as error:
            raise NoReading(f"no answer: {failure_words(error)}") from None

    async def _get(self, url: str, headers: Mapping[str, str], bytes_max: int) -> bytes:
        client = httpx.AsyncClient(trust_env=False, verify=self._trusted)
        plain = {**headers, "accept-encoding": "identity"}
        async with asyncio.timeout(self._timeout_s), client as http, http.stream("GET", url, headers=plain) as answer:
            if answer.status_code != httpx.codes.OK:
                raise NoReading(f"{urlsplit(url).path} answered {answer.status_code}")
            content = b""
            # Raw: a few bytes of a compressed response could be gigabytes.
            async for piece in answer.aiter_raw(4096):
                content += piece
                if len(content) > bytes_max:
                    raise NoReading("the answer is too long")
            return content
