"""`python -m zoe_master.simulator`: the former name of `python -m zoe_simulator`; it goes in 1.0."""

from __future__ import annotations

import sys

from zoe_simulator.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
