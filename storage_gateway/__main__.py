"""`zoe-gateway CONFIGURATION`: serve until a signal, in an environment with Swift."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Mapping


def unusable_user(conf: Mapping[str, str], user_id: int) -> str | None:
    """Return why worker processes could not change to their user; None if they can. Swift's server would give no
    reason. user_id: of the present user.
    """
    name = conf.get("user", "swift")
    if user_id != 0 or conf.get("workers") == "0":
        return None
    try:
        pwd.getpwnam(name)
    except KeyError:
        return f"started by root, but the user {name} does not exist: set `user` in [DEFAULT]"
    return None


def main() -> int:
    """Run the server as Swift runs its proxy; return its exit code."""
    try:
        from swift.common.utils import parse_options, readconf
        from swift.common.wsgi import run_wsgi

        from storage_gateway.raw_heads import serve_raw_heads
    except ImportError:
        print("zoe-gateway: install OpenStack Swift beside it: pip install swift", file=sys.stderr)
        return 1
    configuration, options = parse_options()
    sections = readconf(configuration, raw=True)  # each with the defaults of [DEFAULT]
    if problem := unusable_user(sections.get("app:proxy-server", {"workers": "0"}), os.geteuid()):
        print(f"zoe-gateway: {problem}", file=sys.stderr)
        return 1
    serve_raw_heads()
    return int(run_wsgi(configuration, "proxy-server", **options) or 0)


if __name__ == "__main__":
    sys.exit(main())
