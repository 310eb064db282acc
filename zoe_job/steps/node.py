"""One node of a job: it runs tasks for srun, and the first node assigns the cores."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress

from zoe_job.common.channel import Channel, ChannelError, accept
from zoe_job.common.missing import TEXTS_MAX
from zoe_job.steps.held_cores import Ledger, Requirements
from zoe_job.steps.tasks import NodeContext, run_tasks


class Node:
    """Serves connections, each in a thread; `name`: of its socket; `ledger` is set on the first node."""

    def __init__(self, index: int, name: str, ledger: Ledger | None = None) -> None:
        self.environment: dict[str, str] = {}
        """Variables at the start of the script; only the first node has a script."""
        self._here = NodeContext(index, name)
        self._ledger = ledger
        self._steps: set[Channel] = set()

    @property
    def missing(self) -> list[str]:
        """Return the calls of the script and its tasks that do not exist here, the first ones of many."""
        return self._here.missing

    def signal_steps(self, number: int) -> None:
        """Send a signal to the tasks of all running steps; only the first node knows them."""
        for step in list(self._steps):
            with suppress(ChannelError):
                step.send(b"s", b"%d" % number)

    def serve(self, listeners: list[socket.socket]) -> None:
        """Serve these sockets for ever, in separate threads."""
        for listener in listeners:
            threading.Thread(target=self._accept_all, args=(listener,), daemon=True).start()

    def _accept_all(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        channel = accept(connection)
        if channel is None:
            return
        try:
            frame = channel.receive()
            if frame is not None and frame[0] == b"t":
                run_tasks(channel, json.loads(frame[1]), self._here)
            elif frame is not None and frame[0] == b"u":
                self._note(json.loads(frame[1]))
                channel.send(b"k")
            elif frame is not None and frame[0] == b"e":
                channel.send_json(b"k", self.environment)
            elif frame is not None and frame[0] == b"w" and self._ledger is None:
                self._note("srun within a task of another node than the first")
                channel.send_json(b"n", "only tasks of the first node can run steps; the job will end as failed")
            elif frame is not None and frame[0] == b"w" and self._ledger is not None:
                wanted = [Requirements(**part) for part in json.loads(frame[1])]
                self._hold(channel, wanted, self._ledger)
        except (ChannelError, ValueError, KeyError, TypeError):
            pass  # srun reports the lost tasks
        finally:
            channel.close()

    def _note(self, call: str) -> None:
        if call not in self.missing and len(self.missing) < TEXTS_MAX:
            self.missing.append(call)

    def _hold(self, channel: Channel, wanted: list[Requirements], ledger: Ledger) -> None:
        """Assign cores until srun disconnects."""
        gone = threading.Event()

        def watch() -> None:
            while channel.receive() is not None:
                pass
            gone.set()

        threading.Thread(target=watch, daemon=True).start()
        try:
            taken = ledger.take(wanted, gone.is_set)
        except ValueError as error:
            channel.send_json(b"n", str(error))
            return
        if taken is None:
            return
        step, counts = taken
        try:
            channel.send_json(b"y", {"step": step, "counts": counts})
            self._steps.add(channel)
            gone.wait()
        finally:
            self._steps.discard(channel)
            ledger.give_back(wanted, counts)
