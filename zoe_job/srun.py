"""Run a program as several tasks over the nodes of a job, and end with the largest exit code: srun."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from zoe_job.channel import Channel, ChannelError, connect
from zoe_job.collecting import Collector
from zoe_job.ledger import Wanted
from zoe_job.missing import report
from zoe_job.slurm_options import BadOptionError, MissingOptionError
from zoe_job.step import Settings, settings_of

_PIECE = 1 << 16
_FAILED = 1
_KILL_AFTER_S = 30.0


def main() -> None:
    """Run one step; usage errors end with 1, as srun's do."""
    try:
        settings = settings_of(sys.argv[1:], dict(os.environ))
        code = run(settings)
    except MissingOptionError as error:
        report(" ".join(["srun", *sys.argv[1:]]))
        print(f"srun: error: {error}; the job will end as failed", file=sys.stderr)
        code = _FAILED
    except (BadOptionError, ChannelError) as error:
        print(f"srun: error: {error}", file=sys.stderr)
        code = _FAILED
    sys.stdout.flush()
    os._exit(code)  # threads may still read standard input


def run(settings: Settings) -> int:
    """Run the step and return the largest exit code of its tasks; ChannelError, BadOptionError."""
    addresses = os.environ.get("ZOE_SRUN_NODES", "").split(",")
    if "ZOE_SRUN" not in os.environ:
        raise BadOptionError("srun runs in a script that `zoe sbatch` started")
    holder = connect(os.environ["ZOE_SRUN"])
    wanted = Wanted(
        settings.ntasks,
        settings.cores,
        settings.nodes,
        settings.per_node,
        settings.overlap,
        settings.named,
        settings.excluded,
    )
    holder.send_json(b"w", vars(wanted))
    frame = holder.receive()
    if frame is None or frame[0] != b"y":
        raise BadOptionError("the job has ended" if frame is None else json.loads(frame[1]))
    granted = json.loads(frame[1])
    return _Step(settings, granted["step"], granted["counts"], addresses, holder).run()


class _Step:
    def __init__(
        self, settings: Settings, number: int, counts: list[int], addresses: list[str], holder: Channel
    ) -> None:
        self._settings = settings
        self._holder = holder
        self._late = False
        self._counts = counts
        self._environment = _variables(settings, number, counts)
        self._collector = Collector(settings, self._environment)
        used = [(node, count) for node, count in enumerate(counts) if count]
        self._channels = {node: connect(addresses[node]) for node, _ in used}

    def run(self) -> int:
        forwards = self._forwards()
        first = 0
        for number, (node, channel) in enumerate(self._channels.items()):
            ranks = list(range(first, first + self._counts[node]))
            first += len(ranks)
            channel.send_json(b"t", self._request(ranks, number, forwards))
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
            signal.signal(signal_number, lambda got, _: self._to_all(b"s", b"%d" % got))
        readers = [threading.Thread(target=self._read, args=(channel,)) for channel in self._channels.values()]
        for reader in readers:
            reader.start()
        threading.Thread(target=self._pass_on_signals, daemon=True).start()
        if self._settings.time_limit_s is not None:
            limit = threading.Timer(self._settings.time_limit_s, self._end_late)
            limit.daemon = True
            limit.start()
        if forwards:
            threading.Thread(target=self._forward, daemon=True).start()
        for reader in readers:
            while reader.is_alive():
                reader.join(0.5)  # so that signals are handled
        code = self._collector.finish()
        for call in self._collector.missing:
            report(call)
        return max(code, _FAILED) if self._late else code

    def _pass_on_signals(self) -> None:
        """Hand on what the job sends to its steps, such as the signal before its time limit."""
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

    def _request(self, ranks: list[int], number: int, forwards: bool) -> dict[str, Any]:
        """Return what one node is to run; `number` is that of the node within the step, as launchers expect it."""
        return {
            "node": number,
            "argv": self._settings.command,
            "programs": self._settings.programs,
            "directory": self._settings.directory,
            "environment": self._environment,
            "ranks": ranks,
            "stdin": forwards,
        }

    def _read(self, channel: Channel) -> None:
        """Collect what one node sends until all its tasks have ended."""
        try:
            while (frame := channel.receive()) is not None:
                failed = self._collector.take(*frame)
                if failed and self._settings.kill_on_bad_exit:
                    self._to_all(b"s", b"%d" % signal.SIGTERM)
        except ChannelError as error:
            print(f"srun: error: {error}", file=sys.stderr)
        except BrokenPipeError:  # as `srun ... | head`: like any program whose reader has left
            os._exit(128 + signal.SIGPIPE)

    def _forwards(self) -> bool:
        """Return whether there is a standard input to hand on."""
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
        for channel in self._channels.values():
            with suppress(ChannelError):  # its tasks have ended
                channel.send(kind, data)


def _variables(settings: Settings, number: int, counts: list[int]) -> dict[str, str]:
    used = [count for count in counts if count]
    names = os.environ.get("SLURM_JOB_NODELIST", "").split(",")
    chosen = ",".join(name for name, count in zip(names, counts, strict=False) if count)
    found: dict[str, object] = {
        "SLURM_STEP_ID": number,
        "SLURM_STEPID": number,
        "SLURM_NTASKS": settings.ntasks,
        "SLURM_NPROCS": settings.ntasks,
        "SLURM_STEP_NUM_TASKS": settings.ntasks,
        "SLURM_STEP_NUM_NODES": len(used),
        "SLURM_STEP_NODELIST": chosen,
        "SLURM_STEP_TASKS_PER_NODE": ",".join(map(str, used)),
        "SLURM_CPUS_PER_TASK": settings.cores,
        "SLURM_SRUN_COMM_HOST": names[0],
    }
    return {**settings.variables, **{name: str(value) for name, value in found.items()}}
