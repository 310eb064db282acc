"""Client of the master: questions with time-outs, each attempt on a fresh socket, and hints that may be lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import zmq

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.messaging.envelope import MESSAGE_BYTES_MAX, BadEnvelope, Reply, Request, read, write
from zoe_lib.messaging.header import RECEIVED, write_header
from zoe_lib.messaging.keys import API, MASTER, load_keys, load_public
from zoe_lib.messaging.sockets import new_context

_HINTS_WAITING_MAX = 16


class MasterUnreachable(Exception):  # noqa: N818 - the name is the fact
    """No answer arrived in time."""


class MasterRefused(Exception):  # noqa: N818
    """The master answered with a problem: a stable code and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class MasterClient:
    """Send questions to the master. Thread-safe.

    A question without a receipt within `timeout_s` is sent again, up to `attempts_max` times. A question with a receipt
    is not: the client waits for the answer until all attempts would be over, and sends the master this time limit. A
    master of an older version sends no receipts, so the question is sent again if it has not answered.

    After a question without an answer, only one caller at a time retries; the others fail at once. So while the master
    is away, questions do not use up the threads that other requests need.

    `endpoint` is the master's endpoint, or a function that returns the present leader's; each attempt calls it.
    """

    def __init__(
        self,
        endpoint: str | Callable[[], str],
        keys_dir: Path,
        timeout_s: float,
        attempts_max: int,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._endpoint_of = endpoint if callable(endpoint) else lambda: endpoint
        self._timeout_s = timeout_s
        self._attempts_max = attempts_max
        self._keys = load_keys(keys_dir, API)
        self._master_public = load_public(keys_dir, MASTER)
        self._context = new_context()
        self._away = False
        self._prober = threading.Lock()
        self._sockets_lock = threading.Lock()
        self._closed = False
        self._hints_lock = threading.Lock()
        # Connected with the first hint: an unusable endpoint must not keep the API from starting.
        self._hints_to = ""
        self._hints: zmq.Socket[bytes] | None = None

    def host(self) -> str:
        """Return the host of the present master."""
        endpoint = self._endpoint_of()
        return "127.0.0.1" if endpoint.startswith("ipc:") else urlsplit(endpoint).hostname or ""

    def ask(
        self, kind: str, body: dict[str, Any] | None = None, request_id: str | None = None, asker: str = ""
    ) -> dict[str, Any]:
        """Return the answer's body; MasterUnreachable after all attempts, MasterRefused for a refusal.

        `asker` is the user: slow questions are limited for each user.
        """
        request = Request(id=request_id or uuid4().hex, kind=kind, body=body or {})
        if not self._away:
            return self._ask(request, asker)
        if not self._prober.acquire(blocking=False):
            raise MasterUnreachable("no answer from the master; another request is already retrying")
        try:
            return self._ask(request, asker)
        finally:
            self._prober.release()

    def hint(self) -> None:
        """Notify the master of new work. This never waits; a lost hint costs one timer interval."""
        payload = write(Request(id=uuid4().hex, kind="hint"))
        endpoint = self._endpoint_of()
        with self._hints_lock:
            try:
                hints = self._hints_socket(endpoint)
                hints.send(payload, zmq.NOBLOCK)
                while hints.poll(0):
                    hints.recv(zmq.NOBLOCK)
            except zmq.ZMQError:
                return

    def close(self) -> None:
        """Close all sockets. Waiting threads get MasterUnreachable.

        Each thread closes its own socket: another one must not, and libzmq ends the process if it does.
        """
        with self._hints_lock, self._sockets_lock:
            self._closed = True
            if self._hints is not None:
                self._hints.close()
                self._hints = None
        self._context.term()

    def _ask(self, request: Request, asker: str) -> dict[str, Any]:
        question, until_s = uuid4().hex, self._clock.monotonic_s() + self._timeout_s * self._attempts_max
        for _ in range(self._attempts_max):
            header = write_header(question, until_s - self._clock.monotonic_s(), asker)
            answer = self._try(request, header, until_s)
            if answer is not None:
                return answer
        self._away = True
        raise MasterUnreachable(f"no answer from the master after {self._attempts_max} attempts")

    def _try(self, request: Request, header: bytes, until_s: float) -> dict[str, Any] | None:
        """Return the answer's body; None if the master did not receive the question. MasterUnreachable if it did, but
        did not answer.
        """
        try:
            socket = self._connect(self._endpoint_of())
        except zmq.ZMQError as error:
            raise MasterUnreachable(f"the endpoint of the master cannot be used: {error}") from error
        try:
            socket.send_multipart([header, write(request)])
            if not socket.poll(round(self._timeout_s * 1000)):
                return None
            frames = socket.recv_multipart()
            if frames == [RECEIVED]:
                self._away = False
                if not socket.poll(max(round((until_s - self._clock.monotonic_s()) * 1000), 0)):
                    raise MasterUnreachable("the master received the question but did not answer in time")
                frames = socket.recv_multipart()
            reply = read(Reply, frames[-1])  # an older master returns the header before its answer
        except (zmq.ZMQError, BadEnvelope):
            return None
        finally:
            socket.close()
        if reply.id != request.id:
            return None
        self._away = False
        if reply.problem is not None:
            raise MasterRefused(reply.problem.code, reply.problem.message)
        return reply.body or {}

    def _hints_socket(self, endpoint: str) -> zmq.Socket[bytes]:
        """Return the socket for hints to this endpoint; ZMQError if none can be made."""
        if self._hints is None or endpoint != self._hints_to:
            socket = self._connect(endpoint)
            if self._hints is not None:
                self._hints.close()
            self._hints_to, self._hints = endpoint, socket
        return self._hints

    def _connect(self, endpoint: str) -> zmq.Socket[bytes]:
        with self._sockets_lock:  # an ended context must not be asked for a socket
            if self._closed:
                raise zmq.ZMQError(zmq.ETERM)
            socket = self._context.socket(zmq.DEALER)
        try:
            socket.curve_serverkey = self._master_public
            socket.curve_publickey, socket.curve_secretkey = self._keys.public, self._keys.secret
            socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX)
            socket.setsockopt(zmq.LINGER, 0)
            socket.setsockopt(zmq.SNDHWM, _HINTS_WAITING_MAX)
            socket.connect(endpoint)
        except zmq.ZMQError:
            socket.close(0)
            raise
        return socket
