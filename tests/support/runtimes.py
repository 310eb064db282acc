"""The runtimes of the clone, for homes of tests."""

from __future__ import annotations

import os
from pathlib import Path

from zoe_embedded.home import RUNTIMES_VARIABLE, Home
from zoe_embedded.runtimes.runtime import CLONE


def home_with_runtimes(directory: Path) -> Home:
    """Return a home in this directory, with the runtimes installed for others."""
    return Home(directory, os.geteuid() == 0, Home.find(CLONE).runtimes)


def runtimes_of_the_clone() -> dict[str, str]:
    """The same for a process with a ZOE_HOME of its own: variables for it."""
    return {RUNTIMES_VARIABLE: str(Home.find(CLONE).runtimes)}
