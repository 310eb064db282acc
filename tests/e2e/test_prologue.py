"""Prologue and epilogue of a started master: a user sees them in the events, and bad settings are refused at once."""

from __future__ import annotations

from pathlib import Path

from tests.support.documents import job
from tests.support.installation import Installation
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState


def program(folder: Path, name: str, script: str, mode: int = 0o755) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(mode)
    return str(path)


def test_they_run_around_a_job(installation: Installation, client: Client, tmp_path: Path) -> None:
    told = tmp_path / "told"
    line = f"echo $ZOE_PROGRAM $ZOE_USER $ZOE_NODES $ZOE_OUTCOME | tee -a {told}"
    installation.start_master(
        ZOE_PROLOGUE=program(tmp_path, "prologue", line), ZOE_EPILOGUE=program(tmp_path, "epilogue", line)
    )
    done = client.submit(job("true"))
    assert client.wait(done.id, 60).state is ExecutionState.SUCCEEDED
    assert told.read_text() == "prologue root n1\nepilogue root n1 succeeded\n"
    events = {event.kind: event.data for event in client.events(done.id).events}
    order = [kind for kind in events if kind in ("prologue_ended", "service_started", "epilogue_ended", "ended")]
    assert order == ["prologue_ended", "service_started", "epilogue_ended", "ended"]
    assert events["prologue_ended"]["output"] == "prologue root n1"
    assert events["epilogue_ended"]["output"] == "epilogue root n1 succeeded"


def test_a_setting_that_cannot_work_is_refused_at_the_start(installation: Installation, tmp_path: Path) -> None:
    master = installation.start_master(ZOE_EPILOGUE=program(tmp_path, "epilogue", "true", 0o644))
    assert master.wait(60) == 2
    assert "epilogue: " in installation.log("master")
    assert "is not executable" in installation.log("master")
