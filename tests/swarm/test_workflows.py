"""Workflows and scaling by what a service tells, on Docker Swarm: results cross nodes, and probes go by the gateway."""

from __future__ import annotations

import time

from tests.support.documents import document, part
from tests.support.images import provide
from tests.support.swarm_installation import TENANT, Installation
from tests.swarm.cluster import Cluster
from zoe_lib.descriptions import parse
from zoe_lib.domain.executions.execution import Execution, ExecutionState, ServiceState
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.workflows import RunPlace, compile_workflow
from zoe_master.background.readings import ScalingAmounts
from zoe_master.background.scaling_thread import ScalingThread

PIPELINE = {
    "version": 1,
    "name": "nightly",
    "steps": [
        {
            "name": "prepare",
            "image": "zoe/tiny",
            "command": ["sh", "-c", "seq 20 > {result:table}"],
            "results": {"table": "table.csv"},
            "memory": "64MiB",
        },
        {
            "name": "count",
            "image": "zoe/tiny",
            "inputs": {"table": "prepare.table"},
            "command": ["sh", "-c", "wc -l < $ZOE_INPUT_TABLE > {result:total}; cat {result:total}"],
            "results": {"total": "total.txt"},
            "memory": "64MiB",
        },
        {
            "name": "alarm",
            "image": "zoe/tiny",
            "on_failure": ["prepare", "count"],
            "command": ["echo", "failed"],
            "memory": "64MiB",
        },
    ],
}
TELLS = """
import http.server, pathlib, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(pathlib.Path("left").read_bytes())
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
"""


def test_a_step_reads_what_another_left(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/tiny")
    whole = compile_workflow(PIPELINE, {}, RunPlace("w1"))
    ids = [f"s{position}" for position in range(len(whole.steps))]
    for position, step in enumerate(whole.steps):
        after = tuple(Dependency(need.kind, ids[need.position]) for need in step.after)
        conditions = Conditions(after=after, any_of=step.on_failure)
        application = parse(step.application)
        execution = Execution(ids[position], step.name, TENANT, "ada", application, time.time(), conditions=conditions)
        installation.store.submit(execution, "test")
    ended = installation.until(ids[1], lambda execution: execution.terminal, 120)
    assert ended.state is ExecutionState.SUCCEEDED, installation.story(ended)
    assert installation.output(ended, ended.services[0].component).split() == ["20"]
    alarm = installation.until(ids[2], lambda execution: execution.terminal, 60)
    assert alarm.state is ExecutionState.CANCELLED, "nothing failed"


def test_the_number_of_workers_follows_what_one_tells(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/python")
    description = document(
        part("main", "sleep", "600", image="zoe/python", ends_application=True),
        part(
            "worker",
            *("python3", "{files}/tells.py", "{port:http}"),
            image="zoe/python",
            files={"tells.py": TELLS},
            work_dir="{workspace}",
            ports=[{"name": "http", "number": 8000, "protocol": "http", "proxied": True}],
            scaling={"maximum": 4, "port": "http", "interval_s": 1, "calm_s": 1, "per_instance": 10},
        ),
        name="scaled",
    )
    left = installation.workspace / "left"
    left.write_text('{"backlog": 25}')
    left.chmod(0o644)
    harness = installation.harness
    running = installation.ready(description, 120)
    scaling = ScalingThread(
        installation.master,
        installation.store,
        installation.master._epoch,
        ScalingAmounts(None, harness.backend.address),
        harness.waker,
    )

    def workers(execution: Execution) -> int:
        services = execution.services
        return sum(service.component == "worker" and service.state is ServiceState.READY for service in services)

    try:
        installation.until(running.id, lambda execution: workers(execution) == 3, 90)
        left.write_text("0")
        installation.until(running.id, lambda execution: workers(execution) == 1, 90)
    finally:
        scaling.close()
        installation.end(running.id)
