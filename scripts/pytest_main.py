"""pytest, whose own breakdown has another exit code than failed tests: the interpreter gives both a 1."""

from __future__ import annotations

import sys
import traceback

import pytest


def main() -> int:
    """What pytest says; its code for an internal error when it broke down, and not every test has run."""
    try:
        return int(pytest.main())
    except BaseException:
        traceback.print_exc()
        return int(pytest.ExitCode.INTERNAL_ERROR)


if __name__ == "__main__":
    sys.exit(main())
