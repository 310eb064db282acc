"""The master's side: a ROUTER socket that only known keys can reach, and a few workers that answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from zoe_lib.messaging.envelope import MESSAGE_BYTES_MAX, BadEnvelope, Problem, Reply, read_request, write
from zoe_lib.messaging.keys import API, MASTER, Only, load_keys, load_public

log = structlog.get_logger(__name__)

Handler = Callable[[dict[str, Any]], dict[str, Any]]

_WORKERS = 4
_WORKERS_ENDPOINT = "inproc://workers"


class Refusal(Exception):  # noqa: N818 - it is an answer, not a failure
    """A handler's "no": a stable code and a sentence for the asker."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """Answers requests by kind. What is malformed is answered with a problem or dropped; nothing disturbs the rest."""

    def __init__(self, endpoint: str, keys_dir: Path, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        self._context = zmq.Context()
        self._authenticator = ThreadAuthenticator(self._context)
        self._authenticator.start()
        allowed = load_public(keys_dir, API)
        self._authenticator.configure_curve_callback(credentials_provider=Only({allowed}))
        self._front = self._bind(endpoint, keys_dir)
        self._back = self._context.socket(zmq.DEALER)
        self._back.setsockopt(zmq.LINGER, 0)
        self._back.bind(_WORKERS_ENDPOINT)
        targets = [self._pass_on, *[self._work] * _WORKERS]
        self._threads = [threading.Thread(target=t, name=f"messages-{i}", daemon=True) for i, t in enumerate(targets)]
        for thread in self._threads:
            thread.start()

    @property
    def endpoint(self) -> str:
        """Where it listens; the port is known even when the kernel chose it."""
        return self._endpoint

    def close(self) -> None:
        """Stop answering; what is being answered is finished first."""
        self._authenticator.stop()
        # Ends the waiting of every thread, and returns when each has closed its sockets.
        self._context.term()
        for thread in self._threads:
            thread.join()

    def _bind(self, endpoint: str, keys_dir: Path) -> zmq.Socket[bytes]:
        keys = load_keys(keys_dir, MASTER)
        socket = self._context.socket(zmq.ROUTER)
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = keys.public, keys.secret
        socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX)
        socket.setsockopt(zmq.LINGER, 0)
        socket.bind(endpoint)
        self._endpoint = socket.getsockopt_string(zmq.LAST_ENDPOINT)
        return socket

    def _pass_on(self) -> None:
        """Carry requests to the workers and replies back; the only thread that touches the two sockets."""
        poller = zmq.Poller()
        poller.register(self._front, zmq.POLLIN)
        poller.register(self._back, zmq.POLLIN)
        with suppress(zmq.ContextTerminated), self._front, self._back:
            while True:
                for socket, _ in poller.poll():
                    target = self._back if socket is self._front else self._front
                    target.send_multipart(socket.recv_multipart())

    def _work(self) -> None:
        with suppress(zmq.ContextTerminated), self._context.socket(zmq.ROUTER) as socket:
            socket.setsockopt(zmq.LINGER, 0)
            socket.connect(_WORKERS_ENDPOINT)
            while True:
                *route, payload = socket.recv_multipart()
                reply = self._answer(payload)
                if reply is not None:
                    socket.send_multipart([*route, write(reply)])

    def _answer(self, payload: bytes) -> Reply | None:
        try:
            request = read_request(payload)
        except BadEnvelope as error:
            log.warning("message dropped", why=str(error))
            return None
        handler = self._handlers.get(request.kind)
        if handler is None:
            return Reply(id=request.id, problem=Problem(code="unknown_kind", message=f"no answer to {request.kind}"))
        try:
            return Reply(id=request.id, body=handler(request.body))
        except Refusal as refusal:
            return Reply(id=request.id, problem=Problem(code=refusal.code, message=str(refusal)))
        except Exception:
            log.exception("request failed", kind=request.kind, request=request.id)
            return Reply(id=request.id, problem=Problem(code="internal", message="the master could not answer"))
