"""A plan tells how long an application ran before, on a real stack, also after another master has begun."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Zoe
from tests.support.waiting import until
from zoe_embedded.stack import Stack

BATCH = Path(__file__).parents[2] / "app_descriptions" / "batch.json"


def test_a_plan_tells_run_times_by_the_number_of_elastic_services(stack: Stack, zoe: Zoe, tmp_path: Path) -> None:
    document = {**json.loads(BATCH.read_text()), "name": "timed"}
    (main,) = document["components"]
    main["command"] = ["sleep", "1"]
    main["resources"] = {"memory": "16MiB", "cores": 0.1}
    helper = {**main, "name": "helper", "command": ["sleep", "60"], "ends_application": False}
    document["components"] = [main, {**helper, "essential_count": 0, "total_count": 2}]
    path = tmp_path / "timed.json"
    path.write_text(json.dumps(document))
    assert "Run time" not in zoe("plan", str(path)).out
    assert [zoe("run", "--wait", str(path)).code for _ in range(2)] == [0, 0]

    def told() -> list[str]:
        return [line for line in zoe("plan", str(path)).out.splitlines() if "Run time" in line or "elastic" in line]

    until(lambda: told()[:1] == ["Run time, by your 2 runs that ended:"])
    assert [line.split(":")[0] for line in told()[1:]] == [
        "  with 0 elastic services, 0.1 cores",
        "  with 1 elastic service, 0.2 cores",
        "  with 2 elastic services, 0.3 cores",
    ]
    choices = zoe("plan", str(path), "-o", "json").json()["run_times"]
    assert 0.9 < choices[-1]["p50_s"] < 10
    assert all(choice["p90_s"] >= choice["p50_s"] and choice["wide"] for choice in choices)
