"""`zoe-gateway CONFIGURATION`: serve until it is stopped, in an environment that has Swift."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the server as Swift runs its proxy; return its exit code."""
    try:
        from swift.common.utils import parse_options
        from swift.common.wsgi import run_wsgi
    except ImportError:
        print("zoe-gateway: install OpenStack Swift beside it: pip install swift", file=sys.stderr)
        return 1
    configuration, options = parse_options()
    return int(run_wsgi(configuration, "proxy-server", **options) or 0)


if __name__ == "__main__":
    sys.exit(main())
