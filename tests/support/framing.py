"""Requests whose end two HTTP servers may see at different places, each with a second request behind it.

A server answers one with 400 and closes. The second request, which a proxy may have sent for another user on the same
connection, must never be answered.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping

_SECOND = b"GET /second HTTP/1.1\r\nHost: second\r\n\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_BODY = b"3\r\nabc\r\n0\r\n\r\n"
Case = tuple[bytes, bytes]
"""The lines of a head after `Host`, and the body."""
HEADS: Mapping[str, Case] = {
    "both lengths": (b"Content-Length: 13\r\n" + _CHUNKED, _BODY),
    "both lengths, the other order": (_CHUNKED + b"Content-Length: 3\r\n", _BODY),
    "two lengths": (b"Content-Length: 3\r\nContent-Length: 4\r\n", b"abcd"),
    "a length twice": (b"Content-Length: 3\r\nContent-Length: 3\r\n", b"abc"),
    "a list of lengths": (b"Content-Length: 3, 3\r\n", b"abc"),
    "a bare CR that ends a header line": (b"X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 0\r\n", b""),
    "a bare CR in a value": (b"X-A: b\rc\r\nContent-Length: 3\r\n", b"abc"),
    "a blank before the colon": (b"Content-Length : 3\r\n", b"abc"),
    "a tab before the colon": (b"Transfer-Encoding\t: chunked\r\n", _BODY),
    "a folded line": (b"X-A: b\r\n Content-Length: 3\r\n", b"abc"),
    "a folded length": (b"Content-Length:\r\n 3\r\n", b"abc"),
    "a line without a colon": (b"nothing\r\nContent-Length: 3\r\n", b"abc"),
    "a line without a name": (b": b\r\nContent-Length: 3\r\n", b"abc"),
    "NUL in a value": (b"X-A: b\x00c\r\nContent-Length: 3\r\n", b"abc"),
    "+3": (b"Content-Length: +3\r\n", b"abc"),
    "3_0": (b"Content-Length: 3_0\r\n", b"a" * 30),
    "-1": (b"Content-Length: -1\r\n", b""),
    "0x3": (b"Content-Length: 0x3\r\n", b"abc"),
    "an empty length": (b"Content-Length: \r\n", b""),
    "a coding beside chunked": (b"Transfer-Encoding: gzip, chunked\r\n", _BODY),
    "chunked twice": (_CHUNKED + _CHUNKED, _BODY),
    "chunked is not the last": (b"Transfer-Encoding: chunked, identity\r\n", _BODY),
    "identity": (b"Transfer-Encoding: identity\r\nContent-Length: 3\r\n", b"abc"),
    "a vertical tab before chunked": (b"Transfer-Encoding: \x0bchunked\r\n", _BODY),
}
CHUNKS: Mapping[str, Case] = {
    "a chunk of +3": (_CHUNKED, b"+3\r\nabc\r\n0\r\n\r\n"),
    "a chunk of -1": (_CHUNKED, b"-1\r\n\r\n"),
    "a chunk of 0x3": (_CHUNKED, b"0x3\r\nabc\r\n0\r\n\r\n"),
    "a chunk of 0_3": (_CHUNKED, b"0_3\r\nabc\r\n0\r\n\r\n"),
    "a chunk of blank 3": (_CHUNKED, b" 3\r\nabc\r\n0\r\n\r\n"),
    "a chunk without a size": (_CHUNKED, b"\r\nabc\r\n0\r\n\r\n"),
    "a chunk line that a bare LF ends": (_CHUNKED, b"3\nabc\r\n0\r\n\r\n"),
    "a chunk longer than it says": (_CHUNKED, b"3\r\nabcdef\r\n0\r\n\r\n"),
    "a trailer with a blank before its colon": (_CHUNKED, b"3\r\nabc\r\n0\r\nX : 1\r\n"),
    "a trailer without a colon": (_CHUNKED, b"3\r\nabc\r\n0\r\nnonsense\r\n"),
    "a trailer that a bare LF ends": (_CHUNKED, b"3\r\nabc\r\n0\r\nX: a\n"),
    "trailers without an end": (_CHUNKED, b"3\r\nabc\r\n0\r\n" + b"X-T: 1\r\n" * 2_100),
    "a bare CR in a chunk's extension": (_CHUNKED, b"3;a\rb\r\nabc\r\n0\r\n\r\n"),
}
CASES = {**HEADS, **CHUNKS}


def request(name: str, path: str = "/", more: bytes = b"", method: str = "PUT") -> bytes:
    """Return a case as bytes, with a second request behind it. more: further header lines."""
    head, body = CASES[name]
    start = f"{method} {path} HTTP/1.1\r\nHost: first\r\n".encode()
    return start + more + head + b"\r\n" + body + _SECOND


def answer(host: str, port: int, sent: bytes, seconds: float = 10.0) -> bytes:
    """Return all bytes that a server sends until it closes; `open` at the end if it does not within these seconds."""
    got = b""
    with socket.create_connection((host, port), timeout=seconds) as line:
        line.sendall(sent)
        try:
            while piece := line.recv(65536):
                got += piece
        except ConnectionResetError:
            pass
        except TimeoutError:
            got += b" open"
    return got


def is_refused(got: bytes) -> bool:
    """Return whether there was one answer, of status 400, and the connection is closed."""
    statuses = [line for line in got.split(b"\r\n") if line.startswith(b"HTTP/1.")]
    return len(statuses) == 1 and statuses[0].split(b" ")[1] == b"400" and not got.endswith(b" open")
