"""Every line that a process logs is JSON, and ids lead from a request to the plan that started it and to its end."""

from __future__ import annotations

import json
from typing import Any

from tests.support.documents import job
from tests.support.installation import Installation, free_port
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import ExecutionState


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_ids_lead_from_the_request_to_the_end(installation: Installation) -> None:
    port = free_port()
    installation.start_master()
    installation.start_api(port)
    with installation.client(f"http://127.0.0.1:{port}") as client:
        # What a master finds at its start, it does not hear of.
        until(lambda: (client.status().master or {}).get("ticked_at_s"))
        execution = client.submit(job("true"))
        client.wait(execution.id, 60)
        assert client.execution(execution.id).state is ExecutionState.SUCCEEDED
        causes = {event.kind: event.cause_id for event in client.events(execution.id).events}
    request, plan = causes["submitted"], causes["start_planned"]
    until(lambda: '"succeeded"' in installation.log("master"))
    api_lines, master_lines = lines(installation.log(f"api-{port}")), lines(installation.log("master"))
    assert {line["process"] for line in api_lines} == {"api"}
    assert {line["process"] for line in master_lines} == {"master"}
    assert all({"timestamp", "level", "event"} <= line.keys() for line in api_lines + master_lines)

    def found(among: list[dict[str, Any]], **wanted: str) -> bool:
        return any(wanted.items() <= line.items() for line in among)

    assert found(api_lines, event="submitted", request=request, execution=execution.id)
    assert found(api_lines, event="answered", request=request, route="/api/v1/executions")
    assert found(master_lines, event="heard", request=request, execution=execution.id)
    assert found(master_lines, event="execution", plan=plan, execution=execution.id, state="starting")
    assert found(master_lines, event="plan", plan=plan)
    assert found(master_lines, event="execution", execution=execution.id, state="succeeded")


def test_no_secret_is_logged(installation: Installation) -> None:
    port = free_port()
    installation.start_master()
    installation.start_api(port)
    with installation.client(f"http://127.0.0.1:{port}") as client:
        client.me()
    logged = installation.log("master") + installation.log(f"api-{port}")
    secret = installation.token.split("_")[2]
    password = installation.config_file.read_text().split("zoe:", 1)[1].split("@", 1)[0]
    assert secret not in logged
    assert password not in logged
