"""A pytest plugin that runs modules, and the tests of each module, in the order of a seed: ZOE_RANDOM_ORDER=SEED.

Tests of a module stay together, so a fixture of a module or a session is still made once; pytest then puts those
together that share a fixture's parameter. The order of a module's tests depends on the seed and their names alone, so
`ZOE_RANDOM_ORDER=7 pytest -p scripts.pytest_order FILE` repeats it without the other modules.
"""

from __future__ import annotations

import hashlib
import os

import pytest

ORDER = "ZOE_RANDOM_ORDER"


def wrong_order() -> str:
    """Return what is wrong with the seed, as a sentence; "" if nothing is."""
    seed = os.environ.get(ORDER, "")
    return "" if not seed or (seed.isascii() and seed.isdecimal()) else f"{ORDER}={seed}: a seed is a number, such as 7"


def pytest_configure() -> None:
    """Refuse what is no seed."""
    if wrong := wrong_order():
        raise pytest.UsageError(wrong)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by what a hash makes of the seed and the names: of the module first, then of the test."""
    seed = os.environ.get(ORDER)
    if seed:
        items.sort(key=lambda item: _order(seed, item))


def _order(seed: str, item: pytest.Item) -> tuple[bytes, bool, bytes]:
    """Return the place of a test's module, whether it ends what the others use (mark `last`), and the test's own."""
    module = item.nodeid.partition("::")[0]
    return _place(seed, module), item.get_closest_marker("last") is not None, _place(seed, item.nodeid)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which order it was."""
    if seed := os.environ.get(ORDER):
        terminalreporter.write_line(f"in the order of {ORDER}={seed}")


def _place(seed: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()
