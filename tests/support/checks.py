"""How many random cases each property tries: few in `make test`, many in `make test-all`.

On samples of mutants, the few found what more of them found.
"""

from __future__ import annotations

import os

CHECKS = int(os.environ.get("ZOE_PROPERTY_CHECKS", "500"))


def of_checks(factor: float, most: int) -> int:
    """Return how many cases a test tries for which CHECKS is the wrong number: `factor` times as many, up to `most`.

    `most` bounds `make test-all`, for tests that take long or always try the same.
    """
    return min(round(CHECKS * factor), most)
