"""The HTTP protocol of the API and the storage controller: it answers ambiguous requests, which two servers may split
differently, with 400 and closes their connection.

uvicorn's protocol with httptools refuses most of them; with h11 it accepts two lengths, folded lines and others.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

UNREAD_BYTES_MAX = 1 << 17
"""Maximum of a head, of the lines around chunks, and of trailers, which the protocol buffers. A client fills only its
own connection's.
"""
_CODING = b"transfer-encoding"
_BLANKS = b" \t"


class NotUnderstood(ValueError):  # noqa: N818 - the parser turns it into its own error
    """The head may be read differently by a proxy in front of this server."""


class StrictHttp(HttpToolsProtocol):
    """The protocol of uvicorn, with a limit on everything but the body, and no coding but `chunked`."""

    _beside_body = 0

    def data_received(self, data: bytes) -> None:
        """Read received bytes; refuse the request if too many do not belong to a body."""
        self._beside_body += len(data)
        super().data_received(data)
        if self._beside_body > UNREAD_BYTES_MAX and not self.transport.is_closing():
            self.send_400_response("Too much of a head.")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header, without the blanks and tabs around its value (RFC 9110, 5.5)."""
        super().on_header(name, value.strip(_BLANKS))

    def on_headers_complete(self) -> None:
        """Begin a request. NotUnderstood for a coding that this server does not decode."""
        self._beside_body = 0
        codings = [value.lower() for name, value in self.headers if name == _CODING]
        if codings and codings != [b"chunked"]:
            raise NotUnderstood("a transfer coding other than chunked")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Forward a piece of the body."""
        self._beside_body = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._beside_body = 0
        super().on_message_complete()
