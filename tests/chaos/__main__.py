"""Kill, pause and disturb Zoe's programs at random, and check what is left: `python -m tests.chaos --kills 300`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from contextlib import closing
from functools import partial

from tests.chaos.disk import enter_own_namespace
from tests.chaos.harness import run
from tests.chaos.history import violations
from tests.chaos.local_world import LocalWorld
from tests.chaos.swarm_world import SwarmWorld
from tests.support.postgres import PostgresServer, make_home, remove_leftovers

MINUTES_MAX = 30.0


def main() -> int:
    """Print the seed, the kills by kind, each violation, and `kills=N violations=M` as the last line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=400, help="end after so many kills and pauses")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES_MAX, help=f"or after this time, at most {MINUTES_MAX:g}"
    )
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="of the choices")
    parser.add_argument("--swarm", action="store_true", help="with the Swarm back-end on three engines, as root")
    given = parser.parse_args()
    tell = partial(print, flush=True)
    chosen = [f"--kills={given.kills}", f"--minutes={given.minutes}", f"--seed={given.seed}"]
    small_disk = not given.swarm and enter_own_namespace([sys.executable, "-m", "tests.chaos", *chosen])
    world = SwarmWorld() if given.swarm else LocalWorld(small_disk)
    tell(f"seed {given.seed}")
    remove_leftovers()
    home = make_home()
    server = PostgresServer(home)
    server.start()
    try:
        seconds = 60 * min(given.minutes, MINUTES_MAX)
        with closing(run(server, given.seed, given.kills, seconds, tell, world)) as chaos:
            began_s = time.monotonic()
            history = chaos.history()
            tell(f"at rest after {time.monotonic() - began_s:.1f} s, {len(history.acknowledged)} submissions")
    finally:
        server.stop()
        shutil.rmtree(home)
    for name, count in sorted(chaos.kills.items()):
        tell(f"{count:6} {name}")
    found = violations(history)
    for text in found:
        tell(f"violation: {text}")
    tell(f"kills={chaos.kills.total()} violations={len(found)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
