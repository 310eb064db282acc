"""Sign this machine in: request a token, and wait until a user allows it in a browser."""

from __future__ import annotations

import getpass
import re
import socket
import time
from types import TracebackType
from typing import Self
from urllib.parse import quote

from zoe_client import wire
from zoe_client.errors import NotFound, ZoeError
from zoe_client.http.transport import Transport

_NAME_MAX = 63
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9._@+-]+")
_ASK_EVERY_S_MIN, _WAIT_S_MAX = 0.2, 3600.0


class NobodyAllowed(ZoeError):  # noqa: N818 - the name is the fact
    """The user refused, or did not answer in time."""


def machine_name() -> str:
    """Return `user@host`, in the characters that machine names may have."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no account has this user id
        user = "someone"
    name = _OTHER_CHARACTERS.sub("-", f"{user}@{socket.gethostname()}")[:_NAME_MAX]
    return name if name[:1].isalnum() else f"x{name}"[:_NAME_MAX]


class MachineSignIn:
    """A server from which this machine requests a token. Use it as a context manager."""

    def __init__(self, url: str, patience_s: float = 0.0) -> None:
        self._transport = Transport(url, "", patience_s=patience_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._transport.close()

    def ask(self, wanted: wire.MachineRequest) -> wire.MachineAsked:
        """Request a token. Show the returned code to the user. ZoeError."""
        return self._transport.call(wire.MachineAsked, "POST", "/session/machines", body=wanted)

    def page(self, asked: wire.MachineAsked) -> str:
        """Return the URL of the page that shows the request in a browser, on the server that the user named."""
        return f"{self._transport.url}{asked.path}?code={quote(asked.code)}"

    def token(self, asked: wire.MachineAsked) -> str:
        """Wait until the user allows the request, and return the token. NobodyAllowed, ZoeError."""
        ends_s = time.monotonic() + min(asked.expires_in_s, _WAIT_S_MAX)
        secret = wire.MachineSecret(secret=asked.secret)
        while time.monotonic() < ends_s:
            try:
                answer = self._transport.call(wire.MachineAnswer, "POST", "/session/machine-token", body=secret)
            except NotFound:
                break
            if answer.state == "refused":
                raise NobodyAllowed("this machine was refused in the browser")
            if answer.token is not None:
                return answer.token
            time.sleep(max(asked.interval_s, _ASK_EVERY_S_MIN))
        raise NobodyAllowed("no user allowed this machine in time, or the user's session has ended: try again")
