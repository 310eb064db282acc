"""The proxy's line to the storage controller: limits come in, what was moved goes out, once a second for all workers.

Both are JSON over ZeroMQ with CURVE. Limits are always complete, for all proxies by their names: what a message does
not name is not limited.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eventlet import sleep, spawn_n
from eventlet.green import zmq

from storage_bridge.swift.rate_table import DIRECTIONS, Direction, RateTable

REPORT_INTERVAL_S = 1.0
_TRY_AGAIN_S = 5.0
_QUEUE_MAX = 10  # seconds of reports that are kept while the controller is away
_KEY_LINES = 3


class LimitsAgent:
    """Of all workers, the one that holds the lock; another one takes over when it goes."""

    def __init__(self, table: RateTable, conf: Mapping[str, str], logger: Any) -> None:
        self._table = table
        self._conf = conf
        self._logger = logger
        self._name = conf.get("proxy_name", socket.gethostname())
        self._lock = Path(conf["rates_file"]).with_suffix(".lock")
        self._epoch = time.time_ns()
        self._seen = (0, 0)

    def run(self) -> None:
        """Until the process ends."""
        while not self._has_lock():
            sleep(_TRY_AGAIN_S)
        context = zmq.Context()
        limits, usage = context.socket(zmq.SUB), context.socket(zmq.PUSH)
        usage.setsockopt(zmq.SNDHWM, _QUEUE_MAX)
        self._secure(limits, usage)
        limits.setsockopt(zmq.SUBSCRIBE, b"")
        limits.connect(self._conf["limits_from"])
        usage.connect(self._conf["usage_to"])
        spawn_n(self._listen, limits)
        self._report(usage)

    def _has_lock(self) -> bool:
        self._descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            return False
        return True

    def _secure(self, *sockets: Any) -> None:
        lines = Path(self._conf["key_file"]).read_text().split()
        if len(lines) != _KEY_LINES:
            raise ValueError(f"{self._conf['key_file']} needs three lines: two public keys and a secret one")
        for one in sockets:
            one.curve_serverkey, one.curve_publickey, one.curve_secretkey = (line.encode() for line in lines)

    def _listen(self, limits: Any) -> None:
        while True:
            message = limits.recv()
            try:
                self._take(json.loads(message))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                self._logger.error("limits that make no sense: %s", error)

    def _take(self, told: dict[str, Any]) -> None:
        """What came earlier than what is known is not listened to; another epoch is another controller."""
        seen = (int(told["epoch"]), int(told["seq"]))
        if seen <= self._seen:
            return
        rates: dict[tuple[str, Direction], float] = {}
        for account, limits in told["proxies"].get(self._name, {}).items():
            for direction in DIRECTIONS:
                rate = limits.get(direction)
                if rate is None:
                    continue
                if not float(rate) > 0:
                    raise ValueError(f"{account} may {direction} {rate}")
                rates[str(account), direction] = float(rate)
        self._table.set_rates(rates, time.monotonic())
        self._seen = seen

    def _report(self, usage: Any) -> None:
        before, at_s, number = self._table.totals(), time.monotonic(), 0
        while True:
            sleep(REPORT_INTERVAL_S)
            now, now_s = self._table.totals(), time.monotonic()
            number += 1
            accounts: dict[str, dict[str, int]] = {}
            for (account, direction), total in now.items():
                if moved := total - before.get((account, direction), 0):
                    accounts.setdefault(account, {})[direction] = moved
            told = {"proxy": self._name, "epoch": self._epoch, "seq": number, "seconds": now_s - at_s}
            try:
                usage.send_string(json.dumps({**told, "accounts": accounts}), flags=zmq.NOBLOCK)
            except zmq.Again:
                self._logger.warning("the storage controller does not take reports")
            before, at_s = now, now_s
