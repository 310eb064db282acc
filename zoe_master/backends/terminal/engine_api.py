"""Client of a Docker Engine that can attach to a command, with the standard library alone."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TIMEOUT_S = 10.0
_ANSWER_BYTES_MAX, _HEAD_BYTES_MAX = 2**20, 2**16
_READ_BYTES = 64 * 1024
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 15), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
UNREACHABLE = (OSError, http.client.HTTPException, ValueError)
"""Exceptions of requests without a usable answer."""


class EngineRefused(Exception):  # noqa: N818 - the name is the fact
    """The engine refused a request: its status and its words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class EngineApi:
    """One engine at a URL, as for Docker's client; each request has a separate connection.
    Thread-safe.
    """

    def __init__(self, url: str, tls_dir: str | None, version: str) -> None:
        parts = urlsplit(url)
        self._path = parts.path if parts.scheme == "unix" else ""
        self._host, self._port = parts.hostname or "", parts.port or 2376
        self._prefix = f"/v{version}"
        self._tls = _context(tls_dir) if tls_dir is not None and parts.scheme == "tcp" else None

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the response; EngineRefused, or one of UNREACHABLE."""
        connection = http.client.HTTPConnection("docker", timeout=_TIMEOUT_S)
        raw = self._connect()
        try:
            connection.sock = raw if self._tls is None else self._tls.wrap_socket(raw, server_hostname=self._host)
            connection.request(method, self._prefix + path, *_encode_body(body))
            response = connection.getresponse()
            text = response.read(_ANSWER_BYTES_MAX)
        finally:
            connection.close()
            raw.close()
        if response.status >= 400:
            raise EngineRefused(response.status, _message_of(text))
        return dict(json.loads(text)) if text.strip().startswith(b"{") else {}

    def attach(self, path: str, body: object) -> ContainerStream:
        """Start the command at `path`, and return its connection; EngineRefused, or one of UNREACHABLE."""
        raw = self._connect()
        try:
            stream = ContainerStream(raw, None if self._tls is None else _TlsCodec(self._tls, self._host))
            text, headers = _encode_body(body)
            lines = [f"POST {self._prefix}{path} HTTP/1.1", "Host: docker", "Connection: Upgrade", "Upgrade: tcp"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            stream.begin("\r\n".join([*lines, f"Content-Length: {len(text)}", "", ""]).encode() + text)
            return stream
        except BaseException:
            raw.close()
            raise

    def _connect(self) -> socket.socket:
        if self._path:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(_TIMEOUT_S)
            connection.connect(self._path)
            return connection
        connection = socket.create_connection((self._host, self._port), _TIMEOUT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
        return connection


class ContainerStream:
    """The raw connection to a command, which never blocks once it has begun. `outgoing`: bytes to send."""

    def __init__(self, connection: socket.socket, codec: _TlsCodec | None) -> None:
        self._connection = connection
        self._codec = codec
        self._early = b""
        self._shut = False
        self.outgoing = bytearray()
        self.ended = False

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self._connection.fileno()

    def begin(self, request: bytes) -> None:
        """Send the request and read the head of the response; EngineRefused if the command did not begin."""
        if self._codec is not None:
            self._codec.shake_hands(self._connection)
        self._connection.sendall(self._encode(request))
        head, self._early = self._read_until(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        if status not in (101, 200):
            length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
            while len(self._early) < min(length, _ANSWER_BYTES_MAX) and not self.ended:
                self._early += self._decode(self._connection.recv(_READ_BYTES))
            raise EngineRefused(status, _message_of(self._early))
        self._connection.setblocking(False)

    def early(self) -> bytes:
        """Return bytes that arrived with the head of the response, once."""
        early, self._early = self._early, b""
        return early

    def receive(self) -> bytes:
        """Return the received bytes; empty if there are none, or at the end, when `ended` is set."""
        try:
            return self._decode(self._connection.recv(_READ_BYTES))
        except (BlockingIOError, InterruptedError):
            return b""
        except OSError:
            self.ended = True
            return b""

    def send(self, data: bytes) -> None:
        """Append bytes to send, and send as many as possible."""
        if data:
            self.outgoing += self._encode(data)
        if not self.outgoing or self._shut:
            return
        try:
            del self.outgoing[: self._connection.send(self.outgoing)]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.outgoing.clear()  # the reader detects its end

    def end_input(self) -> None:
        """Close the sending side, and continue to receive. All earlier bytes must have been sent."""
        if self._shut:
            return
        if self._codec is not None:
            self.outgoing += self._codec.end()
            self.send(b"")
            return
        self._shut = True
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _read_until(self, mark: bytes) -> tuple[bytes, bytes]:
        text = b""
        while mark not in text:
            text += self._decode(self._connection.recv(_READ_BYTES))
            if self.ended or len(text) > _HEAD_BYTES_MAX:
                raise http.client.BadStatusLine("no answer")
        head, _, rest = text.partition(mark)
        return head, rest

    def _encode(self, data: bytes) -> bytes:
        return data if self._codec is None else self._codec.encode(data)

    def _decode(self, data: bytes) -> bytes:
        self.ended = self.ended or not data
        if self._codec is None:
            return data
        plain = self._codec.decode(data)
        self.ended = self.ended or self._codec.ended
        self.outgoing += self._codec.answer()
        return plain


class _TlsCodec:
    """TLS without a socket: it can close the sending side while output still arrives."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.ended = False

    def shake_hands(self, connection: socket.socket) -> None:
        """Do the handshake, over a blocking connection."""
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                connection.sendall(self._outgoing.read())
                data = connection.recv(_READ_BYTES)
                if not data:
                    raise ConnectionResetError("the engine closed the connection") from None
                self._incoming.write(data)
        connection.sendall(self._outgoing.read())

    def encode(self, data: bytes) -> bytes:
        """Return the encrypted bytes."""
        self._tls.write(data)
        return self._outgoing.read()

    def decode(self, data: bytes) -> bytes:
        """Return the decrypted bytes."""
        self._incoming.write(data)
        plain = bytearray()
        try:
            while piece := self._tls.read(_READ_BYTES):
                plain += piece
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:  # the end, announced or not
            self.ended = True
        return bytes(plain)

    def answer(self) -> bytes:
        """Return the bytes that TLS itself has to send."""
        return self._outgoing.read()

    def end(self) -> bytes:
        """Return the closing message. All received bytes must be decoded, or OpenSSL would refuse."""
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()
        return self._outgoing.read()


def _context(tls_dir: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=os.path.join(tls_dir, "ca.pem"))
    context.load_cert_chain(os.path.join(tls_dir, "cert.pem"), os.path.join(tls_dir, "key.pem"))
    return context


def _encode_body(body: object) -> tuple[bytes, dict[str, str]]:
    return (b"", {}) if body is None else (json.dumps(body).encode(), {"Content-Type": "application/json"})


def _message_of(text: bytes) -> str:
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text[:500].decode(errors="replace").strip()
