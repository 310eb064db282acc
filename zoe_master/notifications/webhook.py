"""Send webhooks: to allowed addresses only, without redirects, within a time limit."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address

import httpx

from zoe_client.http.tls import trust_of_this_machine
from zoe_client.words.connections import failure_words
from zoe_lib.domain.executions.notifications import (
    Address,
    Network,
    TargetAddress,
    TargetRefused,
    check_address,
    web_address,
)
from zoe_master.notifications.messages import NotificationMessage

TIMEOUT_S = 10.0
_OK = range(200, 300)
_REDIRECT = range(300, 400)
_GONE = 410


class NotDelivered(Exception):  # noqa: N818 - the name is the fact
    """The target did not accept a notification; the text says why. `for_good`: it never will."""

    def __init__(self, why: str, for_good: bool = False) -> None:
        self.for_good = for_good
        super().__init__(why)


class NotificationWebhooks:
    """Sends webhooks. `inside`: networks of the site that they may reach.

    A name is resolved once, each of its addresses is checked, and the connection uses one of these: a name that changes
    its address meanwhile has no effect. Only the status of a response is read.
    """

    def __init__(self, inside: Sequence[Network], timeout_s: float = TIMEOUT_S) -> None:
        self._inside = inside
        self._timeout_s = timeout_s
        limits = httpx.Limits(max_keepalive_connections=0)
        self._transport = httpx.AsyncHTTPTransport(
            verify=trust_of_this_machine("https://"), trust_env=False, limits=limits
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    async def send(self, url: str, message: NotificationMessage, headers: dict[str, str]) -> None:
        """Send one; NotDelivered unless the target answers with a status of success in time."""
        try:
            async with asyncio.timeout(self._timeout_s):
                status = await self._status(url, message, headers)
        except TimeoutError:
            raise NotDelivered(f"it did not answer within {self._timeout_s:g} s") from None
        except TargetRefused as error:
            raise NotDelivered(str(error)) from None
        except (httpx.TransportError, OSError) as error:
            raise NotDelivered(f"no connection: {failure_words(error)}") from None
        if status in _REDIRECT:
            raise NotDelivered(f"it answered {status}; redirects are not followed")
        if status not in _OK:
            raise NotDelivered(f"it answered {status}", for_good=status == _GONE)

    async def _status(self, url: str, message: NotificationMessage, headers: dict[str, str]) -> int:
        target = web_address(url, self._inside)
        address = await self._address(target)
        host = f"[{address}]" if address.version == 6 else str(address)
        request = httpx.Request(
            "POST",
            f"{target.scheme}://{host}:{target.port}{target.path}",
            headers={**headers, "host": target.authority},
            content=message.body,
            extensions={"sni_hostname": target.host, "timeout": dict.fromkeys(_TIMEOUTS, self._timeout_s)},
        )
        response = await self._transport.handle_async_request(request)
        await response.aclose()
        return response.status_code

    async def _address(self, target: TargetAddress) -> Address:
        """Return the first address of a host, after checking all of them."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise NotDelivered(f"{target.host} was not found: {getattr(error, 'strerror', error)}") from None
        addresses = [ip_address(str(item[4][0]).partition("%")[0]) for item in found]
        if not addresses:
            raise NotDelivered(f"{target.host} has no address")
        try:
            for address in addresses:
                check_address(address, self._inside)
        except TargetRefused:
            # The message hides the address: it is an internal fact of the site.
            raise NotDelivered(f"{target.host} leads to an address that is not public; an admin can allow its network"
                          " (webhook_networks)") from None  # fmt: skip
        return addresses[0]


_TIMEOUTS = ("connect", "read", "write", "pool")
