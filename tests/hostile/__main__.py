"""Send hostile requests to an API of its own, and print a table."""

from __future__ import annotations

import argparse
import shutil
import sys

from tests.hostile.judging import lines
from tests.hostile.walk import Found, run
from tests.hostile.world import World
from tests.support.postgres import PostgresServer, make_home


def main() -> int:
    """Return 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="tests.hostile", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="How many requests (default: 10000).")
    parser.add_argument("--seed", type=int, default=1, help="Draws the requests (default: 1).")
    options = parser.parse_args()
    home = make_home()
    server = PostgresServer(home)
    try:
        server.start()
        url = server.create_database()
        with lines():
            found = walked(url, options.requests, options.seed)
    finally:
        server.stop()
        shutil.rmtree(home)
    print(f"seed {options.seed}\n{found.table()}")
    return 1 if found.wrong else 0


def walked(url: str, requests: int, seed: int) -> Found:
    """Return what came of a run over a database that is its own."""
    world = World(url)
    try:
        return run(world, url, requests, seed)
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
