"""A job on an overlay network requeues itself by its token."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from tests.support.images import provide
from tests.support.swarm_installation import Installation
from tests.swarm.cluster import Cluster
from tests.swarm.test_batch_jobs import job
from zoe_lib.domain import events as ev
from zoe_lib.domain.execution import Cause, ExecutionState, Outcome
from zoe_lib.job_tokens import JobToken, JobTokens

SCRIPT = """\
#!/bin/bash
#SBATCH -N 2 --mem=256M -o /dev/null
stat -c '%a %u' $ZOE_API_TOKEN_FILE; echo restart $SLURM_RESTART_COUNT
[ -z "$SLURM_RESTART_COUNT" ] || { srun -r1 -N1 -n1 sh -c 'ls /run/secrets/zoe-secrets 2>&1'; exit 0; }
scontrol requeue $SLURM_JOB_ID; exit 0
"""


class RequeueApi(HTTPServer):
    """Requeues the execution whose token comes, and notes what the tokens say."""

    def __init__(self, address: str, installation: Installation) -> None:
        self.installation = installation
        self.tokens: list[JobToken | None] = []
        super().__init__((address, 0), Handler)

    def requeue(self, text: str) -> None:
        token = JobTokens(self.installation.harness.base).read(text)
        self.tokens.append(token)
        assert token is not None
        store = self.installation.store
        stopping = ev.Stopping(at_s=time.time(), outcome=Outcome.FAILED, cause=Cause.REQUEUED)
        store.append(token.execution_id, [stopping], store.execution(token.execution_id).version, None)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, RequeueApi)
        self.server.requeue(self.headers["Authorization"].removeprefix("Bearer "))
        body = json.dumps({}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - as in the standard library


@contextmanager
def served(address: str, installation: Installation) -> Iterator[RequeueApi]:
    with RequeueApi(address, installation) as api:
        thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield api
        finally:
            api.shutdown()
            thread.join()


def test_a_job_between_containers_requeues_itself(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/python")
    with served(swarm.outside, installation) as api:
        installation.api_url = f"http://{swarm.outside}:{api.server_port}"
        installation.restart_master()
        submitted = installation.submit(job(SCRIPT))
        ended = installation.until(submitted, lambda execution: execution.terminal, 120)
        assert ended.state is ExecutionState.SUCCEEDED, installation.story(ended)
    assert (ended.attempt, api.tokens) == (2, [JobToken(submitted, 1, "lab", "ada")])
    assert "zoejob_" not in str(installation.harness.cluster.manager.api.services())
    last = next(one for one in ended.current() if one.component == "main")
    lines = installation.harness.output(last.id).splitlines()
    assert lines[:2] == ["400 5001", "restart 1"]
    assert any("No such file" in line for line in lines[2:]), lines  # further nodes have no token
