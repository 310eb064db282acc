"""Run a program as several tasks over the nodes of a job, and end with the largest exit code: srun."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from zoe_job.common.channel import Channel, ChannelError, connect
from zoe_job.common.missing import report
from zoe_job.common.slurm_options import BadOptionError, MissingOptionError
from zoe_job.steps.collecting import Collector
from zoe_job.steps.heterogeneous import Part, parts_of
from zoe_job.steps.shares import Place, Share, shares_of

_PIECE = 1 << 16
_FAILED = 1
_KILL_AFTER_S = 30.0


def main() -> None:
    """Run one step; usage errors end with 1, as srun's do."""
    try:
        code = run(parts_of(sys.argv[1:], dict(os.environ)))
    except MissingOptionError as error:
        report(" ".join(["srun", *sys.argv[1:]]))
        print(f"srun: error: {error}; the job will end as failed", file=sys.stderr)
        code = _FAILED
    except (BadOptionError, ChannelError) as error:
        print(f"srun: error: {error}", file=sys.stderr)
        code = _FAILED
    sys.stdout.flush()
    os._exit(code)  # threads may still read standard input


def run(parts: Sequence[Part]) -> int:
    """Run the step and return the largest exit code of its tasks. Raises ChannelError and BadOptionError."""
    addresses = os.environ.get("ZOE_SRUN_NODES", "").split(",")
    if "ZOE_SRUN" not in os.environ:
        raise BadOptionError("srun runs in a script that `zoe sbatch` started")
    holder = connect(os.environ["ZOE_SRUN"])
    holder.send_json(b"w", [vars(part.requirements(len(addresses))) for part in parts])
    frame = holder.receive()
    if frame is None or frame[0] != b"y":
        raise BadOptionError("the job has ended" if frame is None else json.loads(frame[1]))
    granted = json.loads(frame[1])
    shares = shares_of(parts, granted["step"], granted["counts"], dict(os.environ))
    return _Step(shares, addresses, holder).run()


class _Step:
    def __init__(self, shares: Sequence[Share], addresses: list[str], holder: Channel) -> None:
        self._holder = holder
        self._late = False
        self._settings = shares[0].settings
        self._shares = [(share, Collector(share)) for share in shares]
        self._channels: list[tuple[Channel, Collector]] = []
        self._requests: list[dict[str, Any]] = []
        forwards = self._forwards()
        for share, collector in self._shares:
            for place in share.places:
                self._channels.append((connect(addresses[place.node]), collector))
                self._requests.append(_request(share, place, forwards))
        self._forwarding = forwards

    def run(self) -> int:
        for (channel, _), request in zip(self._channels, self._requests, strict=True):
            channel.send_json(b"t", request)
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
            signal.signal(signal_number, lambda got, _: self._to_all(b"s", b"%d" % got))
        readers = [threading.Thread(target=self._read, args=channel) for channel in self._channels]
        for reader in readers:
            reader.start()
        threading.Thread(target=self._pass_on_signals, daemon=True).start()
        limits = [share.settings.time_limit_s for share, _ in self._shares if share.settings.time_limit_s is not None]
        if limits:
            limit = threading.Timer(min(limits), self._end_late)
            limit.daemon = True
            limit.start()
        if self._forwarding:
            threading.Thread(target=self._forward, daemon=True).start()
        for reader in readers:
            while reader.is_alive():
                reader.join(0.5)  # so that signals are handled
        code = max([collector.finish() for _, collector in self._shares])
        for call in dict.fromkeys(call for _, collector in self._shares for call in collector.missing):
            report(call)
        return max(code, _FAILED) if self._late else code

    def _pass_on_signals(self) -> None:
        """Pass signals of the job on to its steps, such as the one before its time limit."""
        with suppress(ChannelError):
            while (frame := self._holder.receive()) is not None:
                self._to_all(*frame)

    def _end_late(self) -> None:
        """End the tasks as Slurm does at the time limit of a step."""
        self._late = True
        print("srun: error: the time limit of the step has come", file=sys.stderr, flush=True)
        self._to_all(b"s", b"%d" % signal.SIGTERM)
        time.sleep(_KILL_AFTER_S)
        self._to_all(b"s", b"%d" % signal.SIGKILL)

    def _read(self, channel: Channel, collector: Collector) -> None:
        """Collect the frames of one node until all its tasks have ended."""
        try:
            while (frame := channel.receive()) is not None:
                failed = collector.take(*frame)
                if failed and any(share.settings.kill_on_bad_exit for share, _ in self._shares):
                    self._to_all(b"s", b"%d" % signal.SIGTERM)
        except ChannelError as error:
            print(f"srun: error: {error}", file=sys.stderr)
        except BrokenPipeError:  # as with `srun ... | head`: like any program whose reader has exited
            os._exit(128 + signal.SIGPIPE)

    def _forwards(self) -> bool:
        """Return whether there is a standard input to pass on."""
        if self._settings.input == "none":
            return False
        if self._settings.input is not None:
            try:
                os.dup2(os.open(self._settings.input, os.O_RDONLY), 0)
            except OSError as error:
                raise BadOptionError(f"cannot open {self._settings.input}: {error.strerror}") from None
        try:
            return os.fstat(0).st_rdev != Path(os.devnull).stat().st_rdev
        except OSError:
            return False

    def _forward(self) -> None:
        while piece := os.read(0, _PIECE):
            self._to_all(b"i", piece)
        self._to_all(b"I", b"")

    def _to_all(self, kind: bytes, data: bytes) -> None:
        for channel, _ in self._channels:
            with suppress(ChannelError):  # its tasks have ended
                channel.send(kind, data)


def _request(share: Share, place: Place, forwards: bool) -> dict[str, Any]:
    """Return the request to one node; `node` is its number within the step, as launchers expect it."""
    return {
        "node": place.number,
        "argv": share.settings.command,
        "programs": share.settings.programs,
        "directory": share.settings.directory,
        "environment": share.environment,
        "ranks": list(place.ranks),
        "stdin": forwards,
    }
