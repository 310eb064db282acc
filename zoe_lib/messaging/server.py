"""Server of the master: a ROUTER socket for known keys only, and a few workers that answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from queue import Full, Queue
from typing import Any

import structlog
import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from zoe_lib.messaging.envelope import MESSAGE_BYTES_MAX, BadEnvelope, Problem, Reply, Request, read, write
from zoe_lib.messaging.header import RECEIVED, Question, question_in
from zoe_lib.messaging.keys import API, MASTER, AllowedKeys, load_keys, load_public
from zoe_lib.messaging.refusal import Refusal
from zoe_lib.messaging.slow_lane import Lane, Places, Slow
from zoe_lib.messaging.sockets import new_context
from zoe_lib.messaging.unfinished import LOOK_S, UnfinishedMessages

__all__ = ["Handler", "Refusal", "Server", "Slow"]

log = structlog.get_logger(__name__)

Handler = Callable[[dict[str, Any]], dict[str, Any]]

_WORKERS = 4
_WAITING_MAX = 1000  # ZeroMQ's own maximum for a socket
_REPLIES_ENDPOINT = "inproc://replies"
# A question has a sender, a header and a payload. All but the payload is kept until the answer is sent.
_FRAMES_MAX = 3
_ADDRESS_BYTES_MAX = 4096
_LOOK_MS = round(LOOK_S * 1000)
_Answer = Callable[[], dict[str, Any]]
_LaneQueue = Queue[tuple[Question, Request] | None]  # the limits of its kinds bound it


class Server:
    """Answers requests by kind. Malformed requests get a problem or are dropped, and do not disturb others.

    One thread owns the socket: it sends a receipt for each question with a header, and hands it to the workers. A
    repeated question is answered once, to its last sender. `slow` questions wait in lanes with separate threads. A
    question is dropped before it begins if its client has left.
    """

    def __init__(
        self, endpoint: str, keys_dir: Path, handlers: Mapping[str, Handler], slow: Mapping[str, Slow] | None = None
    ) -> None:
        self._handlers = handlers
        self._slow = slow or {}
        self._places = Places()
        self._closing = threading.Event()
        self._waiting: Queue[Question | None] = Queue(_WAITING_MAX)
        self._lanes: dict[Lane, _LaneQueue] = {slow.lane: Queue() for slow in self._slow.values()}
        self._routes: dict[bytes, tuple[bytes, ...]] = {}
        self._context = new_context()
        self._authenticator = ThreadAuthenticator(self._context)
        try:
            self._authenticator.start()
            allowed = load_public(keys_dir, API)
            self._authenticator.configure_curve_callback(credentials_provider=AllowedKeys({allowed}))
            self._front = self._bind(endpoint, keys_dir)
            self._replies = self._context.socket(zmq.PULL)
            self._replies.bind(_REPLIES_ENDPOINT)
        except BaseException:
            self._authenticator.stop()
            self._context.destroy(linger=0)
            raise
        self._workers = [
            *(threading.Thread(target=self._work, name=f"messages-{i}", daemon=True) for i in range(_WORKERS)),
            *(
                threading.Thread(target=self._run_slow_lane, args=(waiting,), name=f"{lane.name}-{i}", daemon=True)
                for lane, waiting in self._lanes.items()
                for i in range(lane.threads)
            ),
        ]
        self._passing = threading.Thread(target=self._pass_on, name="messages", daemon=True)
        for thread in (self._passing, *self._workers):
            thread.start()

    @property
    def endpoint(self) -> str:
        """Return the endpoint, with the port that the kernel chose."""
        return self._endpoint

    def close(self) -> None:
        """Stop answering; finish running answers first, but abandon slow ones."""
        self._authenticator.stop()
        self._closing.set()
        for _ in range(_WORKERS):
            with suppress(Full):  # no worker waits after this
                self._waiting.put_nowait(None)
        for lane, waiting in self._lanes.items():
            for _ in range(lane.threads):
                waiting.put(None)
        for thread in self._workers:
            thread.join()
        # Wakes the last thread, and returns when it has closed its sockets.
        self._context.term()
        self._passing.join()

    def _bind(self, endpoint: str, keys_dir: Path) -> zmq.Socket[bytes]:
        keys = load_keys(keys_dir, MASTER)
        socket = self._context.socket(zmq.ROUTER)
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = keys.public, keys.secret
        socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX)
        socket.setsockopt(zmq.LINGER, 0)
        self._unfinished = UnfinishedMessages(socket)
        socket.bind(endpoint)
        self._endpoint = socket.getsockopt_string(zmq.LAST_ENDPOINT)
        return socket

    def _pass_on(self) -> None:
        """Forward questions and replies; the only thread that uses the two sockets."""
        poller = zmq.Poller()
        poller.register(self._front, zmq.POLLIN)
        poller.register(self._replies, zmq.POLLIN)
        with suppress(zmq.ContextTerminated), self._front, self._replies, self._unfinished:
            while True:
                ready = [socket for socket, _ in poller.poll(_LOOK_MS)]
                for socket in ready:
                    if socket is self._front:
                        self._take(self._receive())
                    else:
                        self._give(*self._replies.recv_multipart())
                self._unfinished.look(more_to_take=self._front in ready)

    def _receive(self) -> Question | None:
        """Return the next question; None for a message of another form, which is discarded."""
        frames = [self._front.recv(copy=False)]
        count = 1
        while frames[-1].more:
            # A message may have any number of frames: beyond those of a question, only one at a time is kept.
            del frames[_FRAMES_MAX:]
            frames.append(self._front.recv(copy=False))
            count += 1
        self._unfinished.note_complete(frames[-1])
        if not 2 <= count <= _FRAMES_MAX or any(len(frame) > _ADDRESS_BYTES_MAX for frame in frames[:-1]):
            log.warning("message dropped", why=f"not a question: {count} frames")
            return None
        return question_in([frame.bytes for frame in frames])

    def _take(self, question: Question | None) -> None:
        if question is None:
            return
        if question.key not in self._routes:
            try:
                self._waiting.put_nowait(question)
            except Full:
                return  # without a receipt the client repeats it
        if question.key:
            self._routes[question.key] = question.route
            self._front.send_multipart([*question.route, RECEIVED])

    def _give(self, key: bytes, *reply: bytes) -> None:
        """Send a reply to the last sender of its question; None: the question was dropped."""
        *route, payload = reply or (b"",)
        route = list(self._routes.pop(key, route))
        if payload:
            self._front.send_multipart([*route, payload])

    def _work(self) -> None:
        with self._context.socket(zmq.PUSH) as replies:
            replies.connect(_REPLIES_ENDPOINT)
            while (question := self._waiting.get()) is not None and not self._closing.is_set():
                try:
                    request = read(Request, question.payload)
                except BadEnvelope as error:
                    log.warning("message dropped", why=str(error))
                    _reply(replies, question, None)
                    continue
                slow = self._slow.get(request.kind)
                if slow is None:
                    _reply(replies, question, self._answer(question, request))
                else:
                    self._queue_slow(question, request, slow, replies)

    def _queue_slow(self, question: Question, request: Request, slow: Slow, replies: zmq.Socket[bytes]) -> None:
        try:
            self._places.take(request.kind, question.asker, slow.bounds)
        except Refusal as refusal:
            _reply(replies, question, _refusal_reply(request, refusal))
        else:
            self._lanes[slow.lane].put((question, request))

    def _run_slow_lane(self, lane: _LaneQueue) -> None:
        with self._context.socket(zmq.PUSH) as replies:
            replies.connect(_REPLIES_ENDPOINT)
            while (waiting := lane.get()) is not None and not self._closing.is_set():
                question, request = waiting
                with self._places.release_after(request.kind, question.asker):
                    reply = self._answer(question, request)
                _reply(replies, question, reply)

    def _answer(self, question: Question, request: Request) -> Reply | None:
        """Return the reply; None if the client has left."""

        def has_left() -> bool:
            return self._closing.is_set() or question.client_has_left()

        if has_left():
            log.info("question dropped: its client has disconnected", kind=request.kind, request=request.id)
            return None
        try:
            return Reply(id=request.id, body=self._answer_of(request, has_left)())
        except Refusal as refusal:
            return _refusal_reply(request, refusal)
        except Exception:
            if has_left():
                return None
            log.exception("request failed", kind=request.kind, request=request.id)
            return Reply(id=request.id, problem=Problem(code="internal", message="the master could not answer"))

    def _answer_of(self, request: Request, left: Callable[[], bool]) -> _Answer:
        slow, handler = self._slow.get(request.kind), self._handlers.get(request.kind)
        if slow is not None:
            return lambda: slow.handler(request.body, left)
        if handler is not None:
            return lambda: handler(request.body)
        raise Refusal("unknown_kind", f"no answer to {request.kind}")


def _refusal_reply(request: Request, refusal: Refusal) -> Reply:
    return Reply(id=request.id, problem=Problem(code=refusal.code, message=str(refusal)))


def _reply(replies: zmq.Socket[bytes], question: Question, reply: Reply | None) -> None:
    frames = [*question.route, write(reply)] if reply is not None else []
    replies.send_multipart([question.key, *frames])
