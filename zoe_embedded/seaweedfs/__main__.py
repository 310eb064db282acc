"""`make seaweedfs-up`: SeaweedFS on loopback until Ctrl-C."""

from __future__ import annotations

import secrets
import sys
import tempfile
import time
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.seaweedfs.store import SeaweedError, SeaweedStore, ensure_seaweedfs

_LOOK_INTERVAL_S = 1.0


def main() -> int:
    """Serve until Ctrl-C; return 1 if it does not start."""
    end_by_keyboard_interrupt()
    try:
        program = ensure_seaweedfs(Home.find(CLONE).create())
        secret = secrets.token_urlsafe(16)
        with (
            tempfile.TemporaryDirectory(prefix="zoe-seaweedfs-") as directory,
            SeaweedStore(program, Path(directory), {"gateway": secret}) as store,
        ):
            print(f"SeaweedFS runs; its objects go with it.\n\n  export AWS_ENDPOINT_URL={store.url}")
            print(
                f"  export AWS_ACCESS_KEY_ID=gateway\n  export AWS_SECRET_ACCESS_KEY={secret}\n\nCtrl-C stops it.",
                flush=True,
            )
            while True:
                time.sleep(_LOOK_INTERVAL_S)
    except SeaweedError as error:
        print(f"zoe: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
