"""What clients submit: jobs, groups with elastic workers, and executions that run until they are cancelled."""

from __future__ import annotations

import random
from collections.abc import Mapping

from tests.support.documents import Document, document, part

CORES = {"main": 0.1, "worker": 0.05}
ESSENTIAL: Mapping[str, Mapping[str, int]] = {
    "job": {"main": 1},
    "group": {"main": 1, "worker": 2},
    "long": {"main": 1},
}
_SIGNS = "echo $ZOE_SERVICE_ID {word} $(date +%s.%N) >> {{workspace}}/history"


def documents(chance: random.Random) -> Document:
    """Return one of the applications: a job, a group with elastic workers, or one that runs until it is cancelled."""
    kind = chance.choice(("job", "job", "group", "long"))
    seconds = 600 if kind == "long" else round(chance.uniform(0, 3), 2)
    parts = [_part("main", seconds, ends_application=True)]
    if kind == "group":
        parts.append(_part("worker", 600, essential_count=2, total_count=4))
    return document(*parts, name=kind)


def _part(name: str, seconds: float, **changes: object) -> Document:
    script = f"{_SIGNS.format(word='start')}; sleep {seconds}; {_SIGNS.format(word='end')}"
    resources = {"memory": "16MiB", "cores": CORES[name]}
    return part(name, "sh", "-c", script, resources=resources, **changes)
