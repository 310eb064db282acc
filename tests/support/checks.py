"""Number of random cases of each property: few in `make test`, many in `make test-all`.

On samples of mutants, the few found the same ones as more.
"""

from __future__ import annotations

import os

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "500"))


def of_checks(factor: float, most: int) -> int:
    """Return the number of cases of a test that needs another one than CHECKS: `factor` times as many, up to `most`.

    `most` limits `make test-all`, for tests that take long or always try the same.
    """
    return min(round(CHECKS * factor), most)
