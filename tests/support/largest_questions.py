"""The largest question of each route that asks, for floods and measurements."""

from __future__ import annotations

import time
from typing import Any

from tests.support.documents import Document, document, job, part
from zoe_api.access.wire_forms import policy_view
from zoe_api.main import ROUTES
from zoe_client.wire.storage.rules import StorageRuleTry
from zoe_lib.descriptions.bounds import COMPONENTS_MAX
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.finish_times import MEMBERS_MAX
from zoe_lib.pricing.price_list import ROWS_MAX
from zoe_lib.workflows.model import STEPS_MAX

SHORT_TIME = "+9h"


def question_paths() -> dict[str, tuple[str, ...]]:
    """Return the paths of all questions of the application, each with what bounds it."""
    return {route.path: route.bounds for route in ROUTES if getattr(route, "bounds", ())}


def largest_question(path: str) -> dict[str, Any]:
    """Return the body of the largest question that this route takes; KeyError for a route that is not known here."""
    return _BODIES[path.removeprefix("/api/v1")]()


def workflow_of(steps: int) -> Document:
    """Return a workflow of two steps, one of them with as many runs less one."""
    first = {"name": "first", "application": job("true")}
    second = {
        "name": "second",
        "needs": ["first"],
        "matrix": {"number": list(range(steps - 1))},
        "application": job("echo", "{matrix:number}"),
    }
    return {"version": 1, "name": "large", "steps": [first, second]}


def wide_description() -> Document:
    """Return a description of the most components, which fits on one node."""
    small = {"memory": "1MiB", "cores": 0.001}
    parts = (part(f"c{number}", "sleep", "60", resources=small) for number in range(COMPONENTS_MAX))
    return document(*parts, name="wide")


def _old_description() -> Document:
    services = [
        {
            "name": f"service{number}",
            "image": "zoe/tiny",
            "environment": [["KEY", "value"]],
            "resources": {"memory": {"min": 1 << 26, "max": 1 << 27}, "cores": {"min": 1, "max": 1}},
            "essential_count": 1,
            "total_count": 1,
            "startup_order": 0,
        }
        for number in range(COMPONENTS_MAX)
    ]
    return {"version": 3, "name": "old", "size": 1, "will_end": True, "services": services}


def _rules() -> str:
    line = "FOR TENANT red WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION WITH TYPE=LZ4\n"
    most = next(m.max_length for m in StorageRuleTry.model_fields["text"].metadata if hasattr(m, "max_length"))
    return line * (most // len(line))


def _prices() -> Document:
    users = (" || ".join(f'user == "u{number}-{one}"' for one in range(20)) for number in range(ROWS_MAX))
    rates = [{"meter": "core_hours", "rate": f'{who} ? "0.10" : "7"'} for who in users]
    return {"currency": "EUR", "from": "2090-01-01", "rates": rates}


_BODIES: dict[str, Any] = {
    "/validate": lambda: {"application": wide_description()},
    "/plan": lambda: {"application": wide_description()},
    "/convert": lambda: {"document": _old_description()},
    "/catalogue/{entry_id}/fill": lambda: {"values": {}},
    "/workflows:validate": lambda: {"document": workflow_of(STEPS_MAX)},
    "/workflows:plan": lambda: {"document": workflow_of(MEMBERS_MAX), "finish_by": SHORT_TIME},
    "/arrays:plan": lambda: {
        "application": wide_description() | {"promise": {}},
        "indices": "0-99",
        "deadline": SHORT_TIME,
    },
    "/storage/try": lambda: {"container": "c", "object": "o", "text": _rules()},
    "/nodes/loss": lambda: {"nodes": ["n1"]},
    "/policy/dry-run": lambda: policy_view(Policy()).model_dump(mode="json"),
    "/replays": lambda: {"from_s": time.time() - 10.0},
    "/admin/price-lists:check": lambda: {"document": _prices()},
}
