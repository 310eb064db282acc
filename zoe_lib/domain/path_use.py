"""What a node moves to and from the object store, against what its path there can."""

from __future__ import annotations

from zoe_lib.domain.values import value


@value(frozen=True, slots=True)
class PathUse:
    """Bytes per second: what moves now, reads and writes together, and what the path can move in all."""

    moved: int
    width: int
