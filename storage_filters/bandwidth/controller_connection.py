"""The connection of a proxy or an object server to the storage controllers, in one of its workers.

JSON over ZeroMQ with CURVE. Reports go out four times a second, to all controllers, so that each is ready to lead. Only
the leading controller sends messages; a message that is older than the last one, by the epoch of the leader and its
number, is ignored. Another epoch means another controller.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from eventlet import sleep, spawn_n
from eventlet.green import zmq

from storage_filters.bandwidth.newest import NewestMessage

REPORT_INTERVAL_S = 0.25
_TRY_AGAIN_S = 5.0
_QUEUE_MAX = 40  # reports kept while the controller is away
_KEY_LINES = 3
_SILENCE_S = 5.0  # a running controller sends limits four times a second
_REPORTS_OF_ALL = 240  # all counters are sent again each minute, for a controller that lost some


def addresses(text: str) -> list[str]:
    """Split a comma-separated list of controller addresses."""
    return [address.strip() for address in text.split(",") if address.strip()]


def curve_socket(one: Any, key_file: str) -> Any:
    """Return a socket with the CURVE keys of a file: the controller's public key, then this server's public and secret
    key.
    """
    lines = Path(key_file).read_text().split()
    if len(lines) != _KEY_LINES:
        raise ValueError(f"{key_file} needs three lines: two public keys and a secret key")
    one.curve_serverkey, one.curve_publickey, one.curve_secretkey = (line.encode() for line in lines)
    return one


class ControllerAgent(Protocol):
    """Handler of the controller's messages, and source of the reports of this server."""

    def take_any(self, message: Mapping[str, Any]) -> None:
        """Handle a message that carries no order."""
        ...

    def take(self, message: Mapping[str, Any]) -> bool:
        """Handle a message, and return whether it is meant for this server. Raises any exception for a malformed
        message.
        """
        ...

    def report(self, number: int, again: bool) -> Mapping[str, Any]:
        """Return the next report, without its name and number. again: repeat all counters, since the controller may
        lack them.
        """
        ...


class ControllerConnection:
    """The connection, held by the one worker that has the lock; when that worker ends, another one takes over.

    conf: `limits_from`, `usage_to` and `key_file` as in `middleware.py`, and `rates_file`, beside which the lock is.
    """

    def __init__(self, agent: ControllerAgent, name: str, conf: Mapping[str, str], logger: Any) -> None:
        self._agent = agent
        self._name = name
        self._conf = conf
        self._logger = logger
        self._lock = Path(conf["rates_file"]).with_suffix(".lock")
        self._lock.touch(0o600)
        self._epoch = time.time_ns()
        self._newest = NewestMessage(_SILENCE_S)
        self._told_by: int | None = None
        self._told_all = True
        """Whether all reports were delivered, as far as this worker knows."""
        self._heard_s = self._known_s = time.monotonic()

    def run(self) -> None:
        """Run until the process ends."""
        while not self._has_lock():
            sleep(_TRY_AGAIN_S)
        context = zmq.Context()
        limits = curve_socket(context.socket(zmq.SUB), self._conf["key_file"])
        limits.setsockopt(zmq.SUBSCRIBE, b"")
        for address in addresses(self._conf["limits_from"]):
            limits.connect(address)
        usages = {address: self._usage(context, address) for address in addresses(self._conf["usage_to"])}
        spawn_n(self._listen, limits)
        self._report(context, usages, limits)

    def _has_lock(self) -> bool:
        self._descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            return False
        return True

    def _usage(self, context: Any, address: str) -> Any:
        usage = curve_socket(context.socket(zmq.PUSH), self._conf["key_file"])
        usage.setsockopt(zmq.SNDHWM, _QUEUE_MAX)
        usage.connect(address)
        return usage

    def _listen(self, limits: Any) -> None:
        while True:
            message = limits.recv()
            self._heard_s = time.monotonic()
            try:
                self._take(json.loads(message))
            except Exception as error:  # without this loop, limits would never change again
                self._logger.error("invalid limits: %r", error)

    def _take(self, message: Mapping[str, Any]) -> None:
        if "epoch" not in message:
            self._agent.take_any(message)
            return
        order, now_s = (int(message["epoch"]), int(message["seq"])), time.monotonic()
        if self._newest.is_outdated(order, now_s):
            return
        self._told_by = order[0]
        if self._name in message.get("heard", (self._name,)):
            self._known_s = now_s
        if self._agent.take(message):
            self._newest.record(order, now_s)

    def _connected_again(self, context: Any, usages: dict[str, Any], limits: Any, now_s: float) -> None:
        """Reconnect after silence.

        ZeroMQ does not retry a connection that the controller refused once because it did not yet have this server's
        key. It does retry a connection that has reports to send, even after a disconnect, so reports need a new socket.
        """
        if now_s - self._heard_s > _SILENCE_S:
            self._heard_s = now_s
            for address in addresses(self._conf["limits_from"]):
                _connect_again(limits, address)
        if now_s - self._known_s > _SILENCE_S:
            self._known_s, self._told_all = now_s, False
            for address, usage in usages.items():
                usage.close(linger=0)
                usages[address] = self._usage(context, address)

    def _report(self, context: Any, usages: dict[str, Any], limits: Any) -> None:
        number = 0
        told_to: int | None = None
        while True:
            sleep(REPORT_INTERVAL_S)
            number, now_s = number + 1, time.monotonic()
            self._connected_again(context, usages, limits, now_s)
            again = told_to != self._told_by or not self._told_all or number % _REPORTS_OF_ALL == 0
            told_to, self._told_all = self._told_by, True
            report = {"proxy": self._name, "epoch": self._epoch, "seq": number, **self._agent.report(number, again)}
            for usage in usages.values():
                try:
                    usage.send_string(json.dumps(report), flags=zmq.NOBLOCK)
                except zmq.Again:
                    self._told_all = False
                    self._logger.warning("the storage controller does not accept reports")


def _connect_again(one: Any, address: str) -> None:
    with suppress(zmq.ZMQError):  # it may be gone already
        one.disconnect(address)
    one.connect(address)
