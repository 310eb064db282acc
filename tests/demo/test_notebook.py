"""The Spark notebook as processes of one machine: the same description as on a swarm."""

from __future__ import annotations

import json
import os
import socket
import ssl
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.docs.documents import blocks
from tests.support.long import of_test_all
from tests.support.notebook import CELL, R_CELL, R_SAYS, Notebook, check_sum, through_the_proxy
from tests.support.stack import running_stack
from tests.support.waiting import until
from tests.swarm.certificates import make_certificates
from zoe_client import Client
from zoe_client.wire import ExecutionView
from zoe_embedded.runtimes.on_demand import R_KERNELS
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.stack import Stack
from zoe_lib import descriptions
from zoe_lib.domain.executions.execution import ExecutionState

SCRIPT = """
import os
token = open(os.environ["JUPYTER_TOKEN_FILE"]).read()
print(oct(os.stat(os.environ["JUPYTER_TOKEN_FILE"]).st_mode & 0o777), token in str(os.environ), len(token))
"""


DATA = """
import duckdb, matplotlib, numpy, scipy, sklearn, zoe_client, pandas as pd
import dask.dataframe, pyspark.pandas
from pyspark.sql import functions as F, SparkSession
spark = SparkSession.builder.config("spark.sql.execution.arrow.pyspark.enabled", "true").getOrCreate()
@F.pandas_udf("double")
def doubled(column: pd.Series) -> pd.Series:
    return column * 2
frame = spark.createDataFrame(pd.DataFrame({"x": [1.0, 2.0, 3.0]})).select(doubled("x").alias("y")).toPandas()
print(frame["y"].tolist(), duckdb.sql("SELECT sum(y) FROM frame").fetchall()[0])
"""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running_stack(forked=True, notebook=True, mpi=True) as made:
        yield made


@pytest.fixture
def api(stack: Stack) -> Iterator[Client]:
    with Client(stack.url, stack.token, patience_s=30) as client:
        yield client


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CLONE / "app_descriptions" / name).read_text())
    return found


def output(api: Client, ended: ExecutionView, component: str) -> str:
    service = next(service for service in ended.services if service.component == component)
    return b"".join(api.follow_logs(ended.id, service.id)).decode()


def test_an_mpi_program_runs_over_workers_of_its_own(api: Client) -> None:
    description = document("mpi-pi.json")
    description["frameworks"][0]["parameters"] |= {"program": ["mpi-pi", "3000000"], "processes_per_worker": 1}
    small = descriptions.expand(description)
    for component in small["components"]:
        component["resources"]["cores"] = 0.2
    ended = api.wait(api.submit(small).id, 120)
    assert ended.state is ExecutionState.SUCCEEDED, output(api, ended, "mpi-launcher")
    assert "pi = 3.14159265" in output(api, ended, "mpi-launcher")
    assert "with 2 processes" in output(api, ended, "mpi-launcher")


def test_a_failed_mpi_program_is_a_failed_execution(api: Client) -> None:
    description = document("mpi-pi.json")
    description["frameworks"][0]["parameters"] |= {"program": ["sh", "-c", "exit 3"], "processes_per_worker": 1}
    small = descriptions.expand(description)
    for component in small["components"]:
        component["resources"]["cores"] = 0.2
    ended = api.wait(api.submit(small).id, 120)
    assert (ended.state, ended.exit_code) == (ExecutionState.FAILED, 3)


def test_sql_reads_files_of_the_workspace_and_writes_one(stack: Stack, api: Client) -> None:
    (stack.workspace / "sales.csv").write_text("region,amount\nnorth,2\nsouth,3\nnorth,5\n")
    (stack.workspace / "sales.csv").chmod(0o644)
    description = document("sql-over-files.json")
    query = "SELECT region, sum(amount) AS total FROM 'sales.csv' GROUP BY region ORDER BY region"
    description["components"][0]["command"][2:] = [query, "totals.csv"]
    ended = api.wait(api.submit(description).id, 120)
    assert ended.state is ExecutionState.SUCCEEDED, output(api, ended, "main")
    assert "north" in output(api, ended, "main")
    assert (stack.workspace / "totals.csv").read_text() == "region,total\nnorth,7\nsouth,3\n"


def test_the_second_editor_opens_for_its_user_alone(api: Client) -> None:
    submitted = api.submit(document("marimo.json"))
    ready = until(lambda: (e := api.execution(submitted.id)).core_ready and e, deadline_s=120)
    at = api.port_address(ready.id, ready.services[0].id, "editor", direct=True)
    with httpx.Client(base_url=f"http://{at.host}:{at.port}", trust_env=False) as direct:
        assert direct.get("/").status_code in (303, 307, 401)
    url = urlsplit(api.open_port(ready.id, ready.services[0].id, "editor").url)
    with httpx.Client(trust_env=False, headers={"Host": url.netloc}) as browser:
        here = url._replace(netloc=f"127.0.0.1:{url.port}")
        assert browser.get(here.geturl()).status_code == 303
        page = browser.get(here._replace(path="/", query="").geturl())
        assert (page.status_code, "marimo" in page.text) == (200, True)
    api.cancel(ready.id)


def test_one_ticket_opens_jupyter_and_a_cell_computes_on_the_workers(stack: Stack, api: Client) -> None:
    description = document("spark-notebook.json")
    # As `--set` does, for a machine of two cores.
    description["frameworks"][0]["parameters"] |= {"elastic_workers": 0, "worker_cores": 0.5}
    description["components"][0]["resources"]["cores"] = 0.5
    submitted = api.submit(description)
    ready = until(lambda: (e := api.execution(submitted.id)).state == "running" and e, deadline_s=120)
    service = next(service for service in ready.services if service.component == "notebook")
    at = api.port_address(ready.id, service.id, "lab", direct=True)
    Notebook(at.host, at.port).check_strangers()
    inside = through_the_proxy(api.open_port(ready.id, service.id, "lab").url)
    assert Notebook(inside.host, inside.port, name=inside.name).ask("GET", "/lab")[0] == 401
    status, page = inside.ask("GET", "/lab")
    token = at.headers["Authorization"].removeprefix("token ")
    assert (status, "JupyterLab" in page, token in page) == (200, True, False)
    # In one kernel: a second one's Spark would wait for the cores of the first.
    summed, doubled = inside.execute(CELL + DATA).splitlines()
    assert check_sum(summed) == {socket.gethostname()}
    assert doubled == "[2.0, 4.0, 6.0] (12.0,)"
    assert inside.execute(SCRIPT).split() == ["0o600", "False", "64"]
    assert token not in b64decode(api.logs(ready.id, service.id).data).decode()
    assert not commands_with(token)
    api.cancel(ready.id)
    assert api.wait(ready.id, 60).state is ExecutionState.CANCELLED


ONE_NODE = """
from pyspark.sql import SparkSession
context = SparkSession.builder.getOrCreate().sparkContext
print(context.master, context.parallelize(range(1000), 8).sum())
"""


LONG = """
import time
for number in range(6):
    print(number, flush=True)
    time.sleep(1)
print("last")
"""


def outputs_without_a_page(stack: Stack, inside: Notebook) -> str:
    """Return the output of a cell, in the notebook's file, whose page was closed while it ran."""
    cell: dict[str, Any] = {
        "cell_type": "code", "id": "long", "metadata": {}, "source": LONG, "outputs": [], "execution_count": None,
    }  # fmt: skip
    file = stack.workspace / "left.ipynb"
    file.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    file.chmod(0o666)
    inside.leave("left.ipynb", "long", LONG)

    def ended() -> str | None:
        (left,) = json.loads(file.read_text())["cells"]
        said = "".join("".join(output["text"]) for output in left["outputs"])
        return said if "last" in said and left["execution_count"] == 1 else None

    return until(ended, deadline_s=60)


def test_a_cell_computes_in_one_process_on_one_node(stack: Stack, api: Client) -> None:
    submitted = api.submit(document("spark-notebook-one-node.json"))
    ready = until(lambda: (e := api.execution(submitted.id)).state == "running" and e, deadline_s=120)
    inside = through_the_proxy(api.open_port(ready.id, ready.services[0].id, "lab").url)
    assert inside.execute(ONE_NODE) == "local[2] 499500\n"
    assert outputs_without_a_page(stack, inside) == "0\n1\n2\n3\n4\n5\nlast\n"
    api.cancel(ready.id)
    assert api.wait(ready.id, 60).state is ExecutionState.CANCELLED


FARM = """
import os, time
from dask.distributed import Client
client = Client()
client.wait_for_workers(2)
def part(number):
    time.sleep(0.05)
    return os.getpid(), number * number
done = client.gather(client.map(part, range(40)))
print(client.scheduler.address, sum(square for _, square in done), len({pid for pid, _ in done}))
assert "/status" not in client._repr_html_()  # the link to a dashboard
long = client.map(time.sleep, [60, 61])
"""


def test_a_cell_computes_on_a_cluster_of_dask_that_lets_no_stranger_in(api: Client, tmp_path: Path) -> None:
    description = document("dask-notebook.json")
    description["frameworks"][0]["parameters"] |= {"worker_cores": 0.2, "elastic_workers": 1, "worker_memory": "512MiB"}
    submitted = api.submit(description)
    ready = until(
        lambda: (e := api.execution(submitted.id)) and all(s.state == "ready" for s in e.services) and e,
        deadline_s=120,
    )
    by_name = {service.component: service for service in ready.services}
    inside = through_the_proxy(api.open_port(ready.id, by_name["notebook"].id, "lab").url)
    address, total, workers = inside.execute(FARM).split()
    assert (address.startswith("tls://127.0.0.1:"), total, workers) == (True, "20540", "2")
    make_certificates(tmp_path / "other", ["127.0.0.1"])
    for component, port in (("dask-scheduler", "scheduler"), ("dask-worker", "worker")):
        at = api.port_address(ready.id, by_name[component].id, port)
        assert not first_bytes(at.host, at.port, None)
        assert not first_bytes(at.host, at.port, tmp_path / "other")
    api.cancel(ready.id)
    ended = api.wait(ready.id, 60)
    # Neither a task that runs nor a scheduler that ends with them keeps workers until they are killed.
    assert [service.message for service in ended.services if service.component == "dask-worker"] == ["", ""]
    assert ended.state is ExecutionState.CANCELLED


SCALED = """
import os, sys, threading, time
from pyspark.sql import SparkSession
context, go = SparkSession.builder.getOrCreate().sparkContext, sys.argv[1]
def wait_for(executors):
    while context._jsc.sc().getExecutorMemoryStatus().size() != 1 + executors:  # the driver counts, too
        time.sleep(0.2)
def start_tasks():
    wait_for(3)
    open(go, "w").close()
def mapped(number):
    while not os.path.exists(go):
        time.sleep(0.2)
    time.sleep(0.5)
    return number % 3, number
sums = context.parallelize(range(12), 12).map(mapped).reduceByKey(int.__add__, 1)
threading.Thread(target=start_tasks).start()
print(sums.count(), flush=True)
wait_for(1)
print(sorted(sums.collect()))
"""


def scaled_report(events: Path) -> dict[str, Any]:
    """Return the description of the page about dynamic allocation, for a machine of two cores."""
    texts = [block.text for block in blocks(CLONE / "docs" / "use" / "spark-scaling.md")]
    report, flags, *others = texts[:4]
    description: dict[str, Any] = json.loads(report)
    decommissioning, on_one_machine = (json.loads(f"{{{text}}}")["overrides"]["worker"] for text in others)
    (use,) = description["frameworks"]
    use["parameters"] = {"core_workers": 1, "worker_memory": "1GiB", "worker_cores": 0.3}
    use["overrides"]["worker"]["scaling"] |= {"maximum": 3, "interval_s": 1, "calm_s": 3}
    use["overrides"]["worker"] |= decommissioning | on_one_machine | {"stop_grace_s": 10}
    use["overrides"]["worker"]["environment"] = decommissioning["environment"] | on_one_machine["environment"]
    (driver,) = description["components"]
    command: list[str] = driver["command"]
    command[command.index("1536m")] = "512m"
    # Spark's 30 s between two looks at blocks to move are longer than this grace.
    log = ["--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir=file:{events}"]
    log += ["--conf", "spark.storage.decommission.replicationReattemptInterval=1s"]
    command[-1:] = ["--driver-memory", "512m", *flags.split(), *log, command[-1], str(events / "go")]
    driver["resources"] = {"memory": "1GiB", "cores": 0.3, "limits": {"cores": 2}}
    return description


def map_tasks(events: Path) -> Counter[str]:
    """Return the number of map tasks that each executor has ended."""
    (log,) = events.glob("app-*")
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    ended = [entry for entry in entries if entry["Event"] == "SparkListenerTaskEnd"]
    return Counter(each["Task Info"]["Executor ID"] for each in ended if each["Task Type"] == "ShuffleMapTask")


@of_test_all
def test_a_spark_driver_gets_workers_and_their_shuffle_data_survives_them(stack: Stack, api: Client) -> None:
    (stack.workspace / "program.py").write_text(SCALED)
    (stack.workspace / "program.py").chmod(0o644)
    events = stack.workspace / "events"
    events.mkdir()
    events.chmod(0o777)
    ended = api.wait(api.submit(scaled_report(events)).id, 300)
    said = output(api, ended, "driver")
    assert ended.state is ExecutionState.SUCCEEDED, said
    assert "[(0, 18), (1, 22), (2, 26)]" in said
    done = map_tasks(events)
    # Not always 12: workers that stop at once may lose some. Without addresses of their own, all run again.
    assert 12 <= done.total() < 24, done
    scaled = [event for event in api.events(ended.id).events if event.kind == "scaled"]
    assert [event.data["total_counts"] for event in scaled] == [{"spark-worker": 3}, {"spark-worker": 1}]


def first_bytes(host: str, port: int, certificates: Path | None) -> bytes:
    """What a server of Dask says to a client without its certificate, or with another one; it greets friends first."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificates is not None:
        context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    try:
        with socket.create_connection((host, port), 10) as raw, context.wrap_socket(raw) as secured:
            return secured.recv(100)
    except (ssl.SSLError, ConnectionError):
        return b""


def commands_with(text: str) -> list[str]:
    """Processes of the machine whose arguments hold it."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                found += [process.name] if text.encode() in (process / "cmdline").read_bytes() else []
            except OSError:
                continue
    return found


def test_a_cell_of_the_r_notebook_computes_with_the_machines_r(stack: Stack, api: Client) -> None:
    if not any(Path(place).is_dir() for place in R_KERNELS):
        pytest.skip("missing program: R with its kernel (r-cran-irkernel)")
    submitted = api.submit(document("r-notebook.json"))
    ready = until(lambda: (e := api.execution(submitted.id)).core_ready and e, deadline_s=120)
    at = api.port_address(ready.id, ready.services[0].id, "lab", direct=True)
    Notebook(at.host, at.port).check_strangers()
    inside = through_the_proxy(api.open_port(ready.id, ready.services[0].id, "lab").url)
    assert inside.execute(R_CELL) == R_SAYS
    api.cancel(ready.id)
