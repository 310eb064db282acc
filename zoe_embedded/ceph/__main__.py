"""`make ceph-up`: Ceph's object gateway on loopback until Ctrl-C."""

from __future__ import annotations

import secrets
import sys
import tempfile
import time
from pathlib import Path

from zoe_embedded.ceph.store import CephError, CephStore
from zoe_embedded.processes.signals import end_by_keyboard_interrupt

_LOOK_INTERVAL_S = 1.0


def main() -> int:
    """Serve until Ctrl-C; return 1 if it does not start."""
    end_by_keyboard_interrupt()
    try:
        with tempfile.TemporaryDirectory(prefix="zoe-ceph-") as directory, CephStore(Path(directory)) as store:
            key = secrets.token_urlsafe(16)
            login = store.add_user("default", key)
            print(f"Ceph runs; objects are in memory, and go with it.\n\n  export ST_AUTH={store.auth_url}")
            print(f"  export ST_USER={login}\n  export ST_KEY={key}\n\nCtrl-C stops it.", flush=True)
            while True:
                time.sleep(_LOOK_INTERVAL_S)
    except CephError as error:
        print(f"zoe: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
