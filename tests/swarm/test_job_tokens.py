"""A job on an overlay network calls the API by its token: it submits, lists and cancels a job, and requeues itself."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.api import Api
from tests.support.images import provide
from tests.support.people import make_token
from tests.support.swarm_backend import SwarmHarness
from tests.support.swarm_installation import TENANT, Installation
from tests.swarm.cluster import Cluster
from tests.swarm.test_batch_jobs import job
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.store.postgres.store import PostgresStore

SCRIPT = """\
#!/bin/bash
#SBATCH -N 2 --mem=256M -o /dev/null
stat -c '%a %u' $ZOE_API_TOKEN_FILE; echo restart $SLURM_RESTART_COUNT
[ -z "$SLURM_RESTART_COUNT" ] || { srun -r1 -N1 -n1 sh -c 'ls /run/secrets/zoe-secrets 2>&1'; exit 0; }
next=$(sbatch --parsable --hold --mem=64M -J next -o /dev/null --wrap true)
squeue -h -j $next -o '%j %t'
scancel $next
sacct -n -P -X -j $next -o jobname,state
squeue -h -j {foreign}; echo code $?
scontrol requeue $SLURM_JOB_ID; exit 0
"""


@pytest.fixture
def api(swarm: Cluster, harness: SwarmHarness, postgres_url: str) -> Iterator[Api]:
    """The API at an address that containers reach, with the keys of the master."""
    ensure_keys(harness.base)
    with closing(socket.create_server((swarm.outside, 0))) as listening:
        port = listening.getsockname()[1]
    url = f"http://{swarm.outside}:{port}"
    made = Api(postgres_url, (swarm.outside, port), keys_dir=harness.base, services_api_url=url, backend="swarm")
    yield made
    made.close()


def test_a_job_between_containers_requeues_itself(
    swarm: Cluster, harness: SwarmHarness, api: Api, store: PostgresStore
) -> None:
    provide(swarm, "zoe/gateway")
    provide(swarm, "zoe/python")
    installation = Installation(harness, store)
    installation.api_url = api.url
    installation.restart_master()
    ada, bob = (api.client(make_token(api.store, name, TENANT)) for name in ("ada", "bob"))
    foreign = bob.submit(job("#!/bin/sh\ntrue\n"), hold=True).id
    submitted = ada.submit(job(SCRIPT.replace("{foreign}", foreign))).id
    ended = installation.until(submitted, lambda execution: execution.terminal, 120)
    assert ended.state is ExecutionState.SUCCEEDED, installation.story(ended)
    assert ended.attempt == 2
    first, last = (
        next(service for service in ended.services if service.component == "main" and service.attempt == n)
        for n in (1, 2)
    )
    lines = harness.output(first.id).splitlines()
    assert lines[:4] == ["400 5001", "restart", "next PD", "next|CANCELLED by 5001"], lines
    assert "code 1" in lines
    assert foreign not in "\n".join(line for line in lines if "Invalid job id" not in line)
    [child] = ada.execution(ended.id).submitted
    assert ada.execution(child).state is ExecutionState.CANCELLED
    assert bob.execution(foreign).state is ExecutionState.SUBMITTED
    assert "zoejob_" not in str(harness.cluster.manager.api.services())
    lines = harness.output(last.id).splitlines()
    assert lines[:2] == ["400 5001", "restart 1"]
    assert any("No such file" in line for line in lines[2:]), lines  # further nodes have no token
