"""Kill servers, clients, writers and whole nodes of attached volumes, over random stacks, and check what is left.

    python -m tests.hostile.volumes --blocks 10 --seed 1 --record volumes.jsonl

A block is 100 kills by one seed. With `--record`, blocks that the file has are skipped, so an interrupted run goes on.
The backing loses what was not flushed (`volatile.py`). What was flushed has to be there after the next attachment; what
was not may be torn, and is counted. Only root can mount volumes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.volumes import volatile_plugin, writer
from tests.hostile.volumes.ledger import Ledger
from zoe_master.backends.local.supervisor.spec import VolumeSpec
from zoe_master.backends.local.supervisor.volumes import attachment, backing, mounts

KILLS = 100
STACKS: tuple[list[str], ...] = ([], ["luks"], ["rate=50000000"], ["rate=50000000", "luks"])
VICTIMS = ("server", "client", "writer", "node")
SIZE_BYTES = 16 << 20
_KEY = "0123456789abcdef" * 4
_LONGEST_S = 0.4


@dataclass
class Volume:
    """A volume of the suite, its epoch, and what it must hold."""

    directory: Path
    filters: list[str]
    ledger: Ledger = field(default_factory=Ledger)
    epoch: int = 0

    def spec(self) -> VolumeSpec:
        """Return the next attachment."""
        self.epoch += 1
        here = str(self.directory)
        return {
            "name": "v", "directory": here, "epoch": self.epoch, "filters": self.filters, "key_file": "", "user": None,
        }  # fmt: skip


@dataclass
class Outcome:
    """What came of the kills, by victim and end; wrong: violations."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    flushed: int = 0
    torn: int = 0


def kill_often(kills: int, seed: int, *, lie: bool = False) -> Outcome:
    """Run one block of kills in a directory of its own, and leave nothing."""
    base, draw, outcome = Path(tempfile.mkdtemp(prefix="zoe-volumes-")), random.Random(seed), Outcome()
    volumes = [Volume(base / str(number), list(filters)) for number, filters in enumerate(STACKS)]
    try:
        for number in range(kills):
            _kill_once(draw.choice(volumes), draw, outcome, f"{seed}.{number}", lie=lie)
        for volume in volumes:
            if volume.epoch:
                _check(volume, outcome, f"{seed}.end", lie=lie)
                attachment.detach(str(volume.directory), volume.epoch)
                _check_file_system(volume, outcome)
    finally:
        for volume in volumes:
            attachment.detach(str(volume.directory), volume.epoch)
            outcome.wrong += [f"left behind: {left}" for left in _left(volume)]
        shutil.rmtree(base)
    outcome.torn = sum(volume.ledger.torn for volume in volumes)
    return outcome


def _kill_once(volume: Volume, draw: random.Random, outcome: Outcome, name: str, *, lie: bool) -> None:
    if not _check(volume, outcome, name, lie=lie):
        return
    there = str(volume.directory)
    program = [sys.executable, "-I", writer.__file__, f"{there}/mount", name, str(volume.ledger.newest + 1)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as writing:
        time.sleep(draw.uniform(0.05, _LONGEST_S))
        end = _kill(volume, writing, draw, outcome)
    if end == "detach":
        attachment.detach(there, volume.epoch, busy_s=2.0)
        outcome.wrong += [f"{name}: left behind: {left}" for left in _left(volume)]


def _kill(volume: Volume, writing: subprocess.Popen[str], draw: random.Random, outcome: Outcome) -> str:
    """Kill something while the writer writes, and read what it wrote; return how the attachment ends."""
    there = str(volume.directory)
    victim, end = draw.choice(VICTIMS), draw.choice(("detach", "take over"))
    servers, clients = attachment.holders(there), attachment.clients(there)
    pids = {"server": servers, "client": clients, "writer": {writing.pid}, "node": servers | clients | {writing.pid}}
    for pid in pids[victim]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if victim != "writer":
        with suppress(subprocess.TimeoutExpired):
            writing.wait(1.0)
    writing.kill()
    assert writing.stdout is not None
    lines = writing.stdout.read().splitlines(keepends=True)
    writing.wait()
    for line in lines:
        if line.endswith("\n"):
            volume.ledger.note(line)
    outcome.flushed += sum(line.startswith("done") for line in lines)
    outcome.counts[f"{victim}, {end}"] += 1
    return end


def _check(volume: Volume, outcome: Outcome, name: str, *, lie: bool) -> bool:
    """Attach the volume again, over whatever the last kill left, and check its content; False if that is impossible."""
    there = str(volume.directory)
    backing.make(there, SIZE_BYTES, volume.filters, _KEY)
    plugin = ("python", volatile_plugin(), f"seed={name.replace('.', '')}", f"lie={int(lie)}")
    try:
        attachment.attach(volume.spec(), _KEY, plugin)
        outcome.wrong += [
            f"{name}: {volume.filters}: {text}" for text in volume.ledger.wrong(volume.directory / "mount")
        ]
    except (backing.VolumeRefused, OSError) as error:
        outcome.wrong.append(f"{name}: {volume.filters}: {error}")
        return False
    return True


def _check_file_system(volume: Volume, outcome: Outcome) -> None:
    if not volume.filters:
        done = subprocess.run(["e2fsck", "-fn", volume.directory / "data"], capture_output=True, text=True, check=False)
        outcome.wrong += [] if done.returncode == 0 else [f"e2fsck: {done.stdout[-500:]}"]


def _left(volume: Volume) -> Iterator[str]:
    there = str(volume.directory)
    yield from (f"process {pid}" for pid, _ in attachment.processes_of(there))
    yield from (f"mount {point}" for point, _ in mounts.mounts_below(there))
    yield from (f"device {loop}" for loop in mounts.loops_of(f"{there}/run/disk"))


def main() -> int:
    """Run the blocks that are not recorded, and print the sums."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.volumes")
    parser.add_argument("--blocks", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--lie", action="store_true", help="acknowledge flushes without storing: must find violations")
    options = parser.parse_args()
    record: Path | None = options.record
    lines = record.read_text().splitlines() if record is not None and record.exists() else []
    known = {entry["seed"]: entry for entry in map(json.loads, lines)}
    for seed in range(options.seed, options.seed + options.blocks):
        if seed not in known:
            outcome = kill_often(options.kills, seed, lie=options.lie)
            known[seed] = {"seed": seed, "kills": sum(outcome.counts.values()), **vars(outcome)}
            if record is not None:
                with record.open("a") as file:
                    file.write(json.dumps(known[seed]) + "\n")
        entry = known[seed]
        print(
            *(f"{name:<24}{number:>6}" for name, number in sorted(entry["counts"].items())), *entry["wrong"], sep="\n"
        )
    sums = {name: sum(entry[name] for entry in known.values()) for name in ("kills", "flushed", "torn")}
    wrong = sum(len(entry["wrong"]) for entry in known.values())
    print(f"{sums['kills']} kills, {sums['flushed']} flushed writes, {sums['torn']} torn ones, {wrong} violations")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
