"""Hide the routes of the dialect of Crystal that the controller does not speak.

Clients recognise the dialect by a 404 for `/policies/slos`. A client of the appendix dialect would take a controller
that speaks both for one of the later dialect.
"""

from __future__ import annotations

from enum import StrEnum

_OF_ONE_ONLY = {
    "appendix": (
        *("/bw/", "/registry/", "/filters/dependencies"),
        *("/swift/tenants", "/swift/spolicies", "/swift/sort_nodes"),
    ),
    "later": (
        *("/policies/", "/projects", "/metrics/", "/controllers"),
        *("/swift/nodes", "/swift/regions", "/swift/zones", "/swift/storage_policy/"),
    ),
}
_OF_CRYSTAL = ("/filters/", "/bw/", "/registry/", "/swift/", "/policies/", "/projects/", "/metrics/", "/controllers/")
_METRICS = "/metrics/"
"""Crystal's metrics: without the slash, the path belongs to Prometheus."""


class SpokenDialect(StrEnum):
    """Value of the setting `dialect`."""

    BOTH = "both"
    APPENDIX = "appendix"
    LATER = "later"

    def hides(self, path: str) -> bool:
        """Return whether a path belongs to the other dialect only."""
        if self is SpokenDialect.BOTH:
            return False
        other = _OF_ONE_ONLY["later" if self is SpokenDialect.APPENDIX else "appendix"]
        return path.startswith(other)


def without_slash(path: str) -> str:
    """Return a path of Crystal's API without the slash that may end it; other paths unchanged."""
    if path == _METRICS or not path.startswith(_OF_CRYSTAL):
        return path
    return path.removesuffix("/")
