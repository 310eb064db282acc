"""Checks and studies of the scheduler over simulated time: `python -m lab`."""

from __future__ import annotations

import sys

from lab import check
from lab.invariants import Violation
from lab.study import command as study
from zoe_simulator.__main__ import run_command


def main() -> int:
    """Run one command; return 1 if an invariant does not hold, 2 for an invalid trace."""
    try:
        return run_command("lab", __doc__, (check, study))
    except Violation as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
