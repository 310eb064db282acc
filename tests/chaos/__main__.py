"""Kill, pause and disturb Zoe's programs at random, and check the result: `python -m tests.chaos --kills 300`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from tests.chaos.clocks import find_library
from tests.chaos.disk import enter_own_namespace
from tests.chaos.harness import run
from tests.chaos.history import violations
from tests.chaos.local_world import LocalWorld
from tests.chaos.storage_world import StorageWorld
from tests.chaos.swarm_world import SwarmWorld
from tests.support.postgres import PostgresServer, make_home, remove_leftovers

MINUTES_MAX = 30.0
KEPT = Path("build/chaos")
"""Where logs and journal of runs with violations are kept, by seed."""


def main() -> int:
    """Print the seed, the kills by kind, each violation, and `kills=N violations=M` as the last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=400, help="end after so many kills and pauses")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES_MAX, help=f"or after this time, at most {MINUTES_MAX:g}"
    )
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="of the choices")
    parser.add_argument("--swarm", action="store_true", help="with the Swarm back-end on three engines, as root")
    parser.add_argument("--storage", action="store_true", help="with Swift and its controller (needs memcached)")
    parser.add_argument("--no-clocks", action="store_true", help="let no clock jump")
    given = parser.parse_args()
    tell = partial(print, flush=True)
    chosen = [f"--kills={given.kills}", f"--minutes={given.minutes}", f"--seed={given.seed}"]
    chosen += [f"--{name}" for name in ("storage", "no-clocks") if getattr(given, name.replace("-", "_"))]
    small_disk = not given.swarm and enter_own_namespace([sys.executable, "-m", "tests.chaos", *chosen])
    library = None if given.no_clocks else find_library()
    tell(f"seed {given.seed}, clocks {'stay' if library is None else 'jump'}")
    remove_leftovers()
    world = SwarmWorld() if given.swarm else StorageWorld(small_disk) if given.storage else LocalWorld(small_disk)
    home = make_home(large=True)
    server = PostgresServer(home)
    server.start()
    try:
        seconds = 60 * min(given.minutes, MINUTES_MAX)
        with closing(run(server, given.seed, given.kills, seconds, tell, world, library)) as chaos:
            began_s = time.monotonic()
            history = chaos.history()
            tell(f"at rest after {time.monotonic() - began_s:.1f} s, {len(history.acknowledged)} submissions")
            if found := violations(history):
                chaos.keep(KEPT / str(given.seed))
    finally:
        server.stop()
        shutil.rmtree(home)
    for name, count in sorted(chaos.kills.items()):
        tell(f"{count:6} {name}")
    for text in found:
        tell(f"violation: {text}")
    tell(f"kills={chaos.kills.total()} violations={len(found)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
