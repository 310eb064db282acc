"""Use of a node's network path to the object store."""

from __future__ import annotations

from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class PathUse:
    """Bytes per second: present reads and writes together, and the maximum of the path."""

    moved: int
    width: int
