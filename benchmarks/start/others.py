"""Programs of other frameworks, to their first useful line; a worker that joins a running job."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.start.place import Place, await_success, description, end, free_port, listens
from benchmarks.start.spark import MEMORY, own_cluster
from tests.support.notebook import Notebook
from zoe_client import Client
from zoe_client.vocabulary import TERMINAL_STATES
from zoe_client.wire import ExecutionView
from zoe_lib import descriptions
from zoe_lib.domain.executions.execution import ExecutionState

_ZOE = Path(sysconfig.get_path("scripts")) / "zoe"
_STEPS = "3000000"
_WAIT_S = 400.0
_DASK = """
import sys
from dask.distributed import Client
with Client(*sys.argv[1:]) as client:
    assert sum(client.gather(client.map(lambda number: number * 2, range(100)))) == 9900
"""
_GROWS = """
import json, os, time
from pyspark import SparkContext
def seen(_):
    time.sleep(0.1)
    return os.getppid(), time.time()
context, first, until = SparkContext(), {}, time.time() + 300
while len(first) < 2 and time.time() < until:
    for executor, at in context.parallelize(range(4), 4).map(seen).collect():
        first.setdefault(executor, at)
    print(json.dumps(sorted(first.values())), flush=True)
"""
_CELL = """
from pyspark.sql import SparkSession
print(SparkSession.builder.getOrCreate().sparkContext.parallelize(range(1000), 8).sum())
"""


def script_here(place: Place) -> None:
    """Run one line by the command, which follows it to its end."""
    environment = {**os.environ, "ZOE_URL": place.stack.url, "ZOE_TOKEN": place.stack.token}
    command = [str(_ZOE), "run", "-f", str(_one_line(place))]
    if subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout != "42\n":
        raise SystemExit("`zoe run` printed something else")


def script_bare(place: Place) -> None:
    """Run it with Python."""
    subprocess.run([sys.executable, _one_line(place)], capture_output=True, check=True)


def _one_line(place: Place) -> Path:
    file = place.stack.home.state / "one_line.py"
    file.write_text("print(42)\n")
    return file


def mpi_here(place: Place) -> None:
    """Run a short program of two MPI processes."""
    document = description("mpi-pi.json")
    document["frameworks"][0]["parameters"]["program"] = ["mpi-pi", _STEPS]
    place.run_to_end(_small(document, 0.5))


def mpi_bare(place: Place) -> None:
    """Run it by MPICH's own command."""
    await_success(place.bare("mpiexec.hydra", "-n", 2, "mpi-pi", _STEPS, runtime=place.mpi))


def dask_here(place: Place) -> None:
    """Run a program over a Dask worker that starts with it."""
    document = description("dask-notebook.json")
    document["frameworks"][0]["parameters"] |= {"elastic_workers": 0}
    program, main = place.stack.workspace / "dask_program.py", document["components"][0]
    program.write_text(_DASK)
    kept = {
        name: main[name] for name in ("name", "image", "ends_application", "startup_order", "environment", "resources")
    }
    del kept["environment"]["JUPYTER_TOKEN_FILE"]
    kept["ports"] = [{"name": "status", "number": 8790, "protocol": "http", "proxied": True, "sign_in": {}}]
    kept["command"] = ["zoe-dask", "--secret-file", "{secret_file}", "--", "python", str(program)]
    document["components"] = [kept]
    del document["kind"]
    place.run_to_end(document)


def dask_bare(place: Place) -> None:
    """Run it over Dask's own scheduler and worker."""
    port, program, started = free_port(), place.stack.workspace / "dask_program.py", []
    address = f"tcp://127.0.0.1:{port}"
    here = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
    try:
        started.append(place.bare("dask", "scheduler", *here, "--port", port))
        listens(port)
        scratch = place.stack.home.state / "dask"
        started.append(
            place.bare("dask", "worker", *here, "--no-nanny", "--nthreads", 1, "--local-directory", scratch, address)
        )
        await_success(place.bare("python", program, address))
    finally:
        end(started)


def notebook_here(place: Place) -> float:
    """Launch the Spark notebook; return the seconds to the answer of its first cell."""
    document = description("spark-notebook.json")
    document["frameworks"][0]["parameters"] |= {"elastic_workers": 0}
    document["components"][0]["resources"]["cores"] = 0.5
    return _first_cell(place, document)


def one_node_here(place: Place) -> float:
    """Launch the Spark notebook on one node; return the seconds to the answer of its first cell."""
    return _first_cell(place, description("spark-notebook-one-node.json"))


def _first_cell(place: Place, document: dict[str, Any]) -> float:
    with Client(place.stack.url, place.stack.token) as client:
        began_s = time.monotonic()
        submitted = client.submit(document)
        execution = _ready(client, submitted.id)
        service = next(service for service in execution.services if service.component == "notebook")
        _compute(_by_ticket(client.open_port(execution.id, service.id, "lab").url))
        took_s = time.monotonic() - began_s
        client.cancel(execution.id)
        client.wait(execution.id, _WAIT_S)
    return took_s


def notebook_bare(place: Place) -> float:
    """Start JupyterLab by hand; return the seconds to the answer of the same cell in local Spark."""
    port, token = free_port(), secrets.token_hex()
    spark = {"PYSPARK_SUBMIT_ARGS": f"--master local[{os.cpu_count()}] pyspark-shell", "JUPYTER_TOKEN": token}
    options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}")
    began_s = time.monotonic()
    server = place.bare("jupyter", "lab", *options, f"--ServerApp.root_dir={place.stack.workspace}", variables=spark)
    try:
        listens(port)
        _compute(Notebook("127.0.0.1", port, token))
        return time.monotonic() - began_s
    finally:
        end([server])


def marimo_here(place: Place) -> float:
    """Launch marimo; return the seconds until its editor answers."""
    with Client(place.stack.url, place.stack.token) as client:
        began_s = time.monotonic()
        execution = _ready(client, client.submit(description("marimo.json")).id)
        took_s = time.monotonic() - began_s
        client.cancel(execution.id)
        client.wait(execution.id, _WAIT_S)
    return took_s


def marimo_bare(place: Place) -> float:
    """Start marimo by hand; return the seconds until its editor answers."""
    port, began_s = free_port(), time.monotonic()
    options = ("--headless", "--skip-update-check", "--no-token", "--host", "127.0.0.1", "--port", port)
    server = place.bare("python3", "-m", "marimo", "edit", *options)
    try:
        listens(port)
        httpx.get(f"http://127.0.0.1:{port}/health", timeout=_WAIT_S).raise_for_status()
        return time.monotonic() - began_s
    finally:
        end([server])


def elastic_here(place: Place) -> float:
    """Free the room of an elastic worker while a job runs; return the seconds to its first task."""
    program = place.data.directory / "grows.py"
    program.write_text(_GROWS)
    document = description("energy-report.json")
    document["frameworks"][0]["parameters"] |= {"elastic_workers": 1, "worker_cores": 0.8}
    driver = document["components"][0]
    driver["resources"] = {"memory": "1GiB", "cores": 0.1, "limits": {"cores": 2}}
    driver["command"] = [*driver["command"][:-5], "{workspace}/energy-report/grows.py"]
    blocker = description("batch.json")
    blocker["components"][0] |= {"command": ["sleep", "600"], "resources": {"memory": "64MiB", "cores": 0.9}}
    with Client(place.stack.url, place.stack.token) as client:
        blocking = client.submit(blocker)
        _ready(client, blocking.id)
        growing = _ready(client, client.submit(document).id)
        driver_id = next(service.id for service in growing.services if service.component == "driver")
        given_s, first = 0.0, list[float]()
        for line in _lines(client.follow_logs(growing.id, driver_id)):
            if line.startswith(b"["):
                first = json.loads(line)
                if not given_s:
                    given_s = time.time()
                    client.cancel(blocking.id)
        ended = client.wait(growing.id, _WAIT_S)
    if ended.state is not ExecutionState.SUCCEEDED or len(first) != 2:
        raise SystemExit("the elastic worker ran no task within five minutes")
    return first[1] - given_s


def elastic_bare(place: Place) -> float:
    """Start a second worker by Spark's own program while the same job runs; return the seconds to its first task."""
    with own_cluster(place, 1) as (address, start_worker):
        output = place.stack.home.state / "grows.txt"
        with output.open("wb") as file:
            driver = place.bare(
                "spark-submit", "--master", address, *MEMORY, place.data.directory / "grows.py", output=file
            )
        deadline_s = time.monotonic() + _WAIT_S
        while not output.read_bytes().startswith(b"["):
            if driver.poll() is not None or time.monotonic() > deadline_s:
                raise SystemExit("plain Spark did not begin")
            time.sleep(0.05)
        given_s = time.time()
        start_worker()
        await_success(driver)
    return float(json.loads(output.read_text().splitlines()[-1])[1]) - given_s


def _compute(notebook: Notebook) -> None:
    if (printed := notebook.execute(_CELL)) != "499500\n":
        raise SystemExit(f"the cell printed {printed!r}")


def _small(document: dict[str, Any], cores: float) -> dict[str, Any]:
    """Return a description with its frameworks expanded, whose components reserve few cores."""
    expanded: dict[str, Any] = descriptions.expand(document)
    for component in expanded["components"]:
        component["resources"]["cores"] = cores
    return expanded


def _ready(client: Client, execution_id: str) -> ExecutionView:
    """Wait until all its essential services are ready. Raises SystemExit if it ends before, or takes minutes."""
    deadline_s = time.monotonic() + _WAIT_S
    while (execution := client.execution(execution_id)).state is not ExecutionState.RUNNING:
        if execution.state in TERMINAL_STATES or time.monotonic() > deadline_s:
            raise SystemExit(f"{execution_id} is {execution.state.value}: {execution.message or execution.reason}")
        time.sleep(0.05)
    return execution


def _by_ticket(url: str) -> Notebook:
    """Open an application as a browser does."""
    ticket = urlsplit(url)
    with httpx.Client(trust_env=False) as browser:
        browser.get(ticket._replace(netloc=f"127.0.0.1:{ticket.port}").geturl(), headers={"Host": ticket.netloc})
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    origin = {"Cookie": cookie, "Origin": f"http://{ticket.netloc}"}
    return Notebook("127.0.0.1", ticket.port or 80, "", origin, ticket.hostname or "")


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
