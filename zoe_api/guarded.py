"""uvicorn's HTTP protocols within the bounds on connections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from zoe_api.connections import BUSY, Coming, Connections

if TYPE_CHECKING:
    _Protocol = Any  # one of uvicorn's two, which have no common base
else:
    _Protocol = object

_HEAD_BYTES_MAX = 65536  # h11's own bound; httptools has none
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


_OF_BODIES = (b"content-length", b"transfer-encoding")
_NO_BODY = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def guarded(protocol: type[asyncio.Protocol], connections: Connections) -> type[asyncio.Protocol]:
    """Return the protocol within the bounds of these connections."""
    return type(f"Guarded{protocol.__name__}", (_Guarded, protocol), {"guard": connections})


class _Guarded(_Protocol):  # type: ignore[misc]
    """Before uvicorn's own: counts the connection, and notes since when it waits for what."""

    guard: Connections
    _address: str | None = None
    _coming: Coming
    _noted: Any = None
    _head_bytes = 0
    _upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Refuse one too many; the time for the first head begins."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        self._coming = Coming(self._end, lambda: self.flow is not None and self.flow.read_paused)
        super().connection_made(transport)
        if not self.guard.enter(address):
            transport.write(BUSY)
            transport.close()
            return
        self._address = address
        self._coming.head_since_s = self.guard.clock()
        self.guard.coming.add(self._coming)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give its place back."""
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note what it is a part of, before and after uvicorn has read it."""
        if self.transport.is_closing():
            return
        its = self._coming
        if self._waits_for_head():
            its.head_since_s = self.guard.clock() if its.head_since_s is None else its.head_since_s
            self._head_bytes += len(data)
        its.body_bytes += len(data)
        super().data_received(data)
        self._note_request()
        if not self._upgraded and self._waits_for_head() and self._head_bytes > _HEAD_BYTES_MAX:
            self._refuse(_TOO_LARGE)

    def on_response_complete(self) -> None:
        """What comes from now on is of the next request, which may be here; uvicorn bounds how long nothing comes."""
        if self._waits_for_head():
            self._coming.body_since_s = None
        super().on_response_complete()
        self._note_request()

    def _note_request(self) -> None:
        """A head that is complete begins a body, if there is one."""
        its = self._coming
        if self.cycle is not self._noted:
            self._noted = self.cycle
            its.head_since_s, self._head_bytes = None, 0
            its.body_since_s, its.body_bytes = self.guard.clock(), 0
        if self.cycle is not None and not self.cycle.more_body:
            its.body_since_s = None

    def handle_websocket_upgrade(self, *event: Any) -> None:
        """Its protocol takes the transport over, and the place with it.

        A handshake has no body (RFC 6455, 4.1). That protocol would wait for one, and no bound holds there.
        """
        self._upgraded = True
        self.guard.coming.discard(self._coming)
        if any(name in _OF_BODIES and value != b"0" for name, value in self.headers):
            self.transport.write(_NO_BODY)
            self.transport.close()
            return
        super().handle_websocket_upgrade(*event)
        successor: Any = self.transport.get_protocol()
        if successor is self:
            return
        lost = successor.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._leave()
            lost(exc)

        successor.connection_lost = connection_lost

    def _waits_for_head(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _end(self) -> None:
        self._refuse(_TOO_SLOW)

    def _refuse(self, answer: bytes) -> None:
        """Hang up, with an answer unless one has begun."""
        self.guard.coming.discard(self._coming)
        if self._waits_for_head() or not self.cycle.response_started:
            self.transport.write(answer)
            self.transport.close()
        else:
            self.transport.abort()

    def _leave(self) -> None:
        self.guard.coming.discard(self._coming)
        if self._address is not None:
            self.guard.leave(self._address)
            self._address = None
