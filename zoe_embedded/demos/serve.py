"""`make serve`: the whole stack on loopback until Ctrl-C; with `--storage`, an OpenStack Swift, too."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from zoe_embedded.processes.docker_engine import ENGINES, check_engine_of
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_master.backends.base import BackendError

BACKENDS = ("local", *ENGINES)


def main() -> int:
    """Serve until Ctrl-C; return 1 if a process does not start, or repeatedly ends by itself."""
    parser = argparse.ArgumentParser(prog="serve", description=__doc__)
    parser.add_argument("--settings", type=Path, metavar="FILE", help="settings as in zoe.toml")
    parser.add_argument("--backend", choices=BACKENDS, help="processes, or containers of this machine's engine")
    parser.add_argument("--storage", action="store_true", help="with an OpenStack Swift and its controller")
    end_by_keyboard_interrupt()
    try:
        arguments = parser.parse_args()
        backend = arguments.backend or os.environ.get("ZOE_BACKEND")
        if arguments.settings is None and backend in ENGINES:
            # Before modules that take seconds to load, so that an engine without an answer is named at once.
            check_engine_of(backend, {"engine_url": os.environ.get("ZOE_ENGINE_URL", "")})
        from zoe_embedded.demos.serving import serve

        return serve(arguments.settings, BACKENDS, arguments.backend, storage=arguments.storage)
    except BackendError as error:
        print(error)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
