"""MPI over several nodes: hosts and keys come from Zoe, programs from the image or the workspace."""

from __future__ import annotations

import re

import pytest

from tests.support.images import provide
from tests.support.swarm_installation import Installation, document
from tests.swarm.cluster import Cluster
from zoe_lib.domain.executions.execution import Execution

WORKERS = 4
HOSTS = {f"mpi-worker-{index}" for index in range(WORKERS)}


@pytest.fixture
def installation(swarm: Cluster, installation: Installation) -> Installation:
    provide(swarm, "zoe/mpi")
    return installation


def run(installation: Installation, *program: str) -> tuple[Execution, str]:
    """The ended execution, and what its launcher printed."""
    description = document("mpi-pi")
    description["frameworks"][0]["parameters"] = {"program": list(program), "workers": WORKERS}
    ended = installation.succeed(description, 120)
    nodes = {service.node for service in ended.services if service.component == "mpi-worker"}
    assert len(nodes) >= 2, f"workers on {nodes}"
    return ended, installation.output(ended, "mpi-launcher")


def test_mpi4py_computes_pi_with_a_program_of_the_workspace(installation: Installation) -> None:
    installation.put("mpi_pi.py")
    _, printed = run(installation, "python3", "{workspace}/mpi_pi.py", "200000")
    found = re.search(r"^pi = (\S+) with (\d+) processes on (.*)$", printed, re.MULTILINE)
    assert found, printed
    assert (found[1][:10], int(found[2]), set(found[3].split())) == ("3.14159265", WORKERS, HOSTS)


def test_a_number_goes_round_all_of_them(installation: Installation) -> None:
    _, printed = run(installation, "mpi-ring")
    ranks = re.findall(r"^rank (\d) of 4 on (\S+): (\d)$", printed, re.MULTILINE)
    assert {(int(rank), int(total)) for rank, _, total in ranks} == {(0, 0), (1, 1), (2, 3), (3, 6)}, printed
    assert {host for _, host, _ in ranks} == HOSTS
    assert f"ring = 6 with {WORKERS} processes" in printed
