"""Users read that scaling has no measurement: in show, explain and the events."""

from __future__ import annotations

from typer.testing import CliRunner

from tests.support.api import Api
from tests.support.documents import document, part
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_lib.domain.executions.events import ScalingBlind
from zoe_lib.domain.executions.execution import ExecutionState

WHY = "no measurement, so the number of instances stays: worker: connection refused"


def test_a_silent_source_is_told_until_it_is_back(api: Api) -> None:
    client, master = api.client(), api.start_master().master
    until(lambda: master.latest)
    scaled = part("worker", essential_count=1, total_count=1, scaling={"maximum": 4, "cpu": 0.5})
    one = client.submit(document(part("main", ends_application=True), scaled)).id
    until(lambda: client.execution(one).state is ExecutionState.RUNNING)
    assert client.execution(one).scaling_problem == ""

    def tell(why: str) -> None:
        found = api.store.execution(one)
        api.store.append(one, [ScalingBlind(at_s=1.0, why=why)], found.version, None)

    def zoe(command: str) -> str:
        done = CliRunner().invoke(app, ["--url", api.url, "--token", api.token, command, one])
        return " ".join(done.output.split())

    tell(WHY)
    assert client.execution(one).scaling_problem == WHY
    assert client.explain(one).scaling_problem == WHY
    assert all("worker: connection refused" in zoe(command) for command in ("show", "explain", "events"))
    tell("")
    assert client.execution(one).scaling_problem == client.explain(one).scaling_problem == ""
