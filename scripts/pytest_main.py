"""Run pytest with different exit codes for a crash of pytest and failed tests: the interpreter gives both a 1."""

from __future__ import annotations

import sys
import traceback

import pytest


def main() -> int:
    """Return pytest's exit code; that for an internal error if it crashed, since not every test has run."""
    try:
        return int(pytest.main())
    except BaseException:
        traceback.print_exc()
        return int(pytest.ExitCode.INTERNAL_ERROR)


if __name__ == "__main__":
    sys.exit(main())
