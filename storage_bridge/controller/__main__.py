"""`python -m storage_bridge.controller`: the former name of `python -m storage_controller`; to be removed in 1.0."""

from __future__ import annotations

import sys

from storage_controller.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
