"""Images for R, for notebooks without Spark, and for PyTorch over several nodes.

They are long tests, since each image has to be loaded into each engine first."""

from __future__ import annotations

import re

import pytest

from tests.support.images import provide
from tests.support.notebook import R_CELL, R_SAYS, Notebook
from tests.support.swarm_installation import Installation, document, needs_time
from tests.swarm.cluster import Cluster
from zoe_lib.domain.executions.execution import ExecutionState, ServiceState

pytestmark = needs_time

SCRIPT = """
readings <- data.frame(region = c("north", "south", "north"), kwh = c(2, 3, 5))
totals <- aggregate(kwh ~ region, readings, sum)
cat(paste(totals$region, totals$kwh), sep = "\\n")
write.csv(totals, "totals.csv", row.names = FALSE)
"""


def test_an_r_script_of_the_workspace_writes_its_result(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/r")
    path = installation.workspace / "script.R"
    path.write_text(SCRIPT)
    path.chmod(0o644)
    ended = installation.succeed(document("r-script"), 120)
    assert "north 7\nsouth 3" in installation.output(ended, "main")
    assert (installation.workspace / "totals.csv").read_text().split() == ['"region","kwh"', '"north",7', '"south",3']


PYTHON_CELL = "import matplotlib, pandas, zoe_client; print(pandas.Series([1, 2]).sum(), zoe_client.Client.__name__)"


@pytest.mark.parametrize(
    ("name", "image", "cell", "says"),
    [
        ("r-notebook", "zoe/jupyter-r", R_CELL, R_SAYS),
        ("python-notebook", "zoe/notebook", PYTHON_CELL, "3 Client\n"),
    ],
)
def test_a_cell_of_a_notebook_computes_and_only_the_proxys_secret_lets_in(
    swarm: Cluster, installation: Installation, name: str, image: str, cell: str, says: str
) -> None:
    provide(swarm, image)
    submitted = installation.submit(document(name))
    running = installation.until(
        submitted, lambda execution: all(s.state is ServiceState.READY for s in execution.services), 240
    )
    at = installation.address(running, "notebook", "lab")
    notebook = Notebook(at.host, at.port, installation.master.port_secrets.secret(running), at.headers)
    notebook.check_strangers()
    assert notebook.execute(cell) == says
    assert installation.end(running.id).state is ExecutionState.CANCELLED


def test_pytorch_fits_one_model_on_several_nodes(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/torch")
    ended = installation.succeed(document("torch-fit"), 240)
    assert len({service.node for service in ended.services}) >= 2
    output = "".join(installation.harness.output(service.id) for service in ended.services)
    found = re.findall(r"rank (\d) of 3 on (\S+): y = (\S+) x \+ (\S+)", output)
    assert {rank for rank, *_ in found} == {"0", "1", "2"}, output
    assert len({host for _, host, *_ in found}) == 3
    # Each process has points of its own, and all end with the same line.
    (line,) = {(slope, intercept) for *_, slope, intercept in found}
    assert abs(float(line[0]) - 3) < 0.05
    assert abs(float(line[1]) + 2) < 0.15
