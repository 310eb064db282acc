"""The HTTP protocols of uvicorn, with limits on connections, and with refusals in the API's form."""

from __future__ import annotations

import asyncio
from contextvars import Context
from typing import TYPE_CHECKING, Any

from websockets import http11

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import problem, raw_response
from zoe_api.http.serving.connections import Connections, Exchange
from zoe_api.http.serving.heads import READ_BYTES_MAX, is_too_large, too_large
from zoe_client.wire import Problem

if TYPE_CHECKING:
    _Protocol = Any  # one of uvicorn's two, which have no common base
else:
    _Protocol = object

# The WebSocket library parses a handshake again, and hangs up without a response on 8 KiB of cookies.
http11.MAX_LINE_LENGTH = http11.MAX_NUM_HEADERS = READ_BYTES_MAX
_THROWN_AWAY_BYTES_MAX = 1 << 20
_OF_BODIES = (b"content-length", b"transfer-encoding")


def guarded_protocol(protocol: type[asyncio.Protocol], connections: Connections) -> type[asyncio.Protocol]:
    """Return a protocol class with the limits of these connections."""
    return type(f"Guarded{protocol.__name__}", (_GuardedProtocol, protocol), {"guard": connections})


class _GuardedProtocol(_Protocol):  # type: ignore[misc]
    """Wraps uvicorn's protocol: counts the connection, and tracks what it waits for, and since when."""

    guard: Connections
    _address: str | None = None
    _exchange: Exchange
    _noted: Any = None
    _head_bytes = 0
    _upgraded = False
    _postponed: tuple[Any, ...] | None = None
    _refused = False

    def __init__(self, config: Any, *more: Any, **named: Any) -> None:
        config.h11_max_incomplete_event_size = READ_BYTES_MAX  # httptools has no limit
        super().__init__(config, *more, **named)

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Refuse a connection beyond the limit; start the time for the first head."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        self._exchange = Exchange(
            end=lambda: self._refuse(problem(Code.TOO_SLOW)),
            abort=transport.abort,
            paused=lambda: self.flow is not None and self.flow.read_paused,
            unsent=transport.get_write_buffer_size,
        )
        super().connection_made(transport)
        if not self.guard.enter(address):
            self._refuse(problem(Code.TOO_MANY_CONNECTIONS))
            return
        self._address = address
        self._exchange.head_since_s = self.guard.clock.monotonic_s()
        self.guard.exchanges.add(self._exchange)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's place."""
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Attribute the data to a request, before and after uvicorn has read them."""
        if self.transport.is_closing():
            return
        if self._refused:
            self._throw_away(data)
            return
        if self._postponed is not None:  # nothing may follow a handshake before its response (RFC 6455, 4.1)
            self.transport.abort()
            return
        services = self._exchange
        if self._waits_for_head():
            services.head_since_s = (
                self.guard.clock.monotonic_s() if services.head_since_s is None else services.head_since_s
            )
            self._head_bytes += len(data)
        services.body_bytes += len(data)
        super().data_received(data)
        self._note_request()
        if not self._upgraded and not self._refused and self._waits_for_head() and self._head_bytes > READ_BYTES_MAX:
            self._refuse_unread(too_large())

    def eof_received(self) -> bool:
        """Answer complete requests: a client that sends no more may still read. End everything else."""
        answering = not self._refused and not self._waits_for_head() and not self.cycle.more_body
        if answering:
            self._exchange.half_closed_since_s = self.guard.clock.monotonic_s()
        return answering

    def on_response_complete(self) -> None:
        """Expect the next request from now on; uvicorn limits how long a connection may be idle."""
        if self._waits_for_head():
            self._exchange.body_since_s = None
        super().on_response_complete()
        self._note_request()
        if self._postponed is not None:
            self.loop.call_soon(self._handle_postponed)  # not in the task of the response that ends
        elif self._exchange.half_closed_since_s is not None and self._waits_for_head():
            self.transport.close()

    def _note_request(self) -> None:
        """Record that a complete head begins a body, if it has one."""
        services = self._exchange
        if self.cycle is not self._noted:
            self._noted = self.cycle
            services.head_since_s, self._head_bytes = None, 0
            services.body_since_s, services.body_bytes = self.guard.clock.monotonic_s(), 0
        if self.cycle is not None and not self.cycle.more_body:
            services.body_since_s = None

    def handle_websocket_upgrade(self, *event: Any) -> None:
        """Release the transport and the place to the WebSocket protocol.

        A handshake has no body (RFC 6455, 4.1). That protocol would wait for one, without a limit. A head that is too
        large is refused here, as that protocol would hang up without a response.

        A client has the whole response a moment before its end is known here, and a proxy reuses the connection at
        once. uvicorn would continue with both, and end the WebSocket with the idle timeout.
        """
        if not self._waits_for_head():
            self._postponed = event
            self._exchange.all_came()
            self.flow.pause_reading()
            return
        self._upgraded = True
        self._exchange.all_came()
        target = event[0].target if event else self.url  # h11 returns the request, httptools keeps its target
        if is_too_large(self.scope["method"], target, self.headers):
            self._refuse(too_large())
            return
        if any(name in _OF_BODIES and value != b"0" for name, value in self.headers):
            self._refuse(problem(Code.NOT_HTTP, "a WebSocket handshake must not have a body"))
            return
        Context().run(super().handle_websocket_upgrade, *event)  # not in that of an earlier request
        successor: Any = self.transport.get_protocol()
        if successor is self:
            return
        lost = successor.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._leave()
            lost(exc)

        successor.connection_lost = connection_lost

    def _handle_postponed(self) -> None:
        event, self._postponed = self._postponed or (), None
        if not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self.handle_websocket_upgrade(*event)

    def send_400_response(self, _msg: str) -> None:
        """Refuse a request that uvicorn's parser rejects, such as an incomplete head that is too large."""
        self._refuse_unread(too_large() if self._head_bytes > READ_BYTES_MAX else problem(Code.NOT_HTTP))

    def _waits_for_head(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _refuse(self, refusal: Problem) -> None:
        """Close the connection, with a response unless one has begun."""
        self._exchange.all_came()
        if self._waits_for_head() or not self.cycle.response_started:
            self.transport.write(raw_response(refusal))
            self.transport.close()
        else:
            self.transport.abort()

    def _refuse_unread(self, refusal: Problem) -> None:
        """Refuse while more may arrive: closing before all was read would discard the response (RFC 9112, section
        9.6).
        """
        if self._waits_for_head() and not self._refused:
            self._refused, self._head_bytes = True, 0
            self._exchange.all_came()
            self._exchange.half_closed_since_s = self.guard.clock.monotonic_s()
            self.transport.write(raw_response(refusal))
            self.transport.write_eof()
        else:
            self._refuse(refusal)

    def _throw_away(self, data: bytes) -> None:
        self._head_bytes += len(data)
        if self._head_bytes > _THROWN_AWAY_BYTES_MAX:
            self.transport.abort()

    def _leave(self) -> None:
        self.guard.exchanges.discard(self._exchange)
        if self._address is not None:
            self.guard.leave(self._address)
            self._address = None
