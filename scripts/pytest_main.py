"""Run pytest with different exit codes for a crash of pytest and failed tests: the interpreter gives both a 1."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import traceback

import pytest

from scripts.with_parent import end_with_parent

# How long the process may take to exit after the last test: a thread that a test left behind keeps it alive for ever.
_EXIT_S = float(os.environ.get("ZOE_TEST_EXIT_S", "120"))


def main() -> int:
    """Return pytest's exit code; that for an internal error if it crashed, since not every test has run."""
    end_with_parent(signal.SIGINT)  # as Ctrl-C: tests clean up what they have started
    try:
        return int(pytest.main())
    except BaseException:
        traceback.print_exc()
        return int(pytest.ExitCode.INTERNAL_ERROR)
    finally:
        faulthandler.dump_traceback_later(_EXIT_S, exit=True)  # prints the stacks of all threads, and exits with 1


if __name__ == "__main__":
    sys.exit(main())
