"""Check the host name of requests.

A page of another site can point its name to the address of a Zoe that its visitors reach (DNS rebinding): their
browsers then take the responses for the site's. Such a request has the site's name in `Host`, and is refused before
anything else. Names below `apps_domain` never reach this check.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.http.addresses import host_name, parts_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import problem, refuse_unread
from zoe_api.http.problems.refusals import note_refused
from zoe_lib.settings.api import ANY_HOST
from zoe_lib.settings.config import Settings

_SHOWN_MAX = 200


class HostDoor:
    """ASGI middleware: forward requests for a host name of this Zoe."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._any = is_any(settings.allowed_hosts)
        self._names = names_of(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or WebSocket."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        host_headers = Headers(scope=scope).getlist("host")
        name = host_name(host_headers[0]) if len(host_headers) == 1 else None
        if name is None:
            await _refuse(scope, receive, send, Code.HTTP_ERROR, "the header Host is not a host name")
        elif not self._any and not self._is_ours(name):
            await _refuse(
                scope, receive, send, Code.HOST_NOT_ALLOWED, f"the request names the host {name[:_SHOWN_MAX]}"
            )
        else:
            await self._app(scope, receive, send)

    def _is_ours(self, name: str) -> bool:
        return name in self._names or name.endswith(".localhost") or _is_address(name)


def names_of(settings: Settings) -> frozenset[str]:
    """Return the allowed names in addition to addresses, which no other site can have, and names below `localhost`."""
    public = parts_of(settings.public_url or "")
    services = parts_of(settings.services_api_url or "")
    hosts = ["localhost", os.uname().nodename, settings.api_host, (public and public.hostname) or ""]
    hosts.append((services and services.hostname) or "")
    return frozenset(found for text in [*hosts, *(settings.allowed_hosts or ())] if (found := host_name(text)))


def is_any(allowed: Iterable[str] | None) -> bool:
    """Return whether the setting allows every name: it is empty, or contains `*`."""
    return allowed is not None and (not (names := list(allowed)) or ANY_HOST in names)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(scope: Scope, receive: Receive, send: Send, code: Code, why: str) -> None:
    note_refused(scope, code)
    hint = "an admin can allow the host name (allowed_hosts)" if code is Code.HOST_NOT_ALLOWED else ""
    await refuse_unread(problem(code, why, hint, path=scope["path"]), scope, receive, send)
