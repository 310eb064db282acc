"""Which of Crystal's two dialects is answered.

Clients tell them apart by a 404 for `/policies/slos`, so one that speaks the appendix dialect would take a controller
that answers both for a later one.
"""

from __future__ import annotations

from enum import StrEnum

_OF_ONE_ONLY = {
    "appendix": ("/bw/", "/registry/", "/swift/tenants", "/swift/spolicies", "/filters/dependencies"),
    "later": ("/policies/", "/projects/"),
}


class SpokenDialect(StrEnum):
    """What the setting `dialect` says."""

    BOTH = "both"
    APPENDIX = "appendix"
    LATER = "later"

    def hides(self, path: str) -> bool:
        """Return whether a path belongs to the other dialect alone."""
        if self is SpokenDialect.BOTH:
            return False
        other = _OF_ONE_ONLY["later" if self is SpokenDialect.APPENDIX else "appendix"]
        return path.startswith(other)
