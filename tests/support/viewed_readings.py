"""The readings of `make demo-storage` as an input that is read through a view."""

from __future__ import annotations

from typing import Any

STORAGE: dict[str, Any] = {
    "inputs": [
        {
            "name": "selected",
            "uri": "swift2d://energy.zoe/readings",
            "pushdown": {
                "columns": ["vid", {"name": "sumHC", "type": "long"}, {"name": "temp", "type": "double"}, "region"],
                "where": "region = 'Bretagne'",
            },
        }
    ],
    "bandwidth": {"read": "20MB/s", "guarantee": "preferred"},
}
