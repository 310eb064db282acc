"""From submission to result beside the bare program: the demo's job, a small job on many workers, one script.

Both sides of a pair run one after the other, so that a ratio is of one time; medians are of ROUNDS pairs. The bare side
is what a user of that framework would type, without what Zoe adds to its JVMs.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.ranges import Table
from benchmarks.support import machine
from zoe_client import Client
from zoe_embedded.demo import fit, until_it_ends
from zoe_embedded.demo_data import Dataset
from zoe_embedded.home import RUNTIMES_VARIABLE, Home
from zoe_embedded.runtime import CLONE, Runtime, ensure_runtime
from zoe_embedded.stack import Stack
from zoe_lib.domain.execution import ExecutionState

ROUNDS = int(os.environ.get("ROUNDS", "7"))
WORKERS = 20
_ZOE = Path(sysconfig.get_path("scripts")) / "zoe"
_SMALL = "from pyspark import SparkContext\nprint(SparkContext().parallelize(range(400), 40).sum())\n"
_PLAIN = {"ZOE_JAVA_PLAIN": "1"}


@dataclass(frozen=True, slots=True)
class Place:
    """A running stack, its data, and the runtime that both sides use."""

    stack: Stack
    runtime: Runtime
    data: Dataset

    def bare(self, *command: object, **variables: str) -> subprocess.Popen[bytes]:
        """Start a program as its user would."""
        environment = {**os.environ, **self.runtime.environment, **variables}
        environment["PATH"] = os.pathsep.join(self.runtime.path)
        quiet = subprocess.DEVNULL
        return subprocess.Popen([str(one) for one in command], env=environment, stdout=quiet, stderr=quiet)

    def ended(self, document: dict[str, object]) -> None:
        """Run a description to its end, which must be a success."""
        with Client(self.stack.url, self.stack.token) as client:
            execution = until_it_ends(client, client.submit(document).id, lambda _execution: None)
        if execution.state is not ExecutionState.SUCCEEDED:
            raise SystemExit(f"{execution.id} ended as {execution.state.value}: {execution.reason}")


def timed(work: Callable[[], None]) -> float:
    """Return the seconds that it takes."""
    began_s = time.monotonic()
    work()
    return time.monotonic() - began_s


def succeeded(process: subprocess.Popen[bytes]) -> None:
    """Wait until it has ended; SystemExit if it failed."""
    if process.wait(timeout=600):
        raise SystemExit(f"{process.args!r} ended with {process.returncode}")


def demo_here(place: Place) -> None:
    """Run the demo's description."""
    document = json.loads((CLONE / "app_descriptions" / "energy-report.json").read_text())
    fit(document, os.cpu_count() or 1)
    place.ended(document)


def demo_bare(place: Place) -> None:
    """Run its script by plain Spark in one process."""
    script, output = place.data.directory / "energy_report.py", place.stack.home.state / "bare"
    files = ("--input", place.data.directory / "readings", "--output", output)
    succeeded(place.bare("spark-submit", "--master", "local[2]", script, *files, **_PLAIN))
    shutil.rmtree(output)


def script_here(place: Place) -> None:
    """Run one line by the command, which follows it to its end."""
    environment = {**os.environ, "ZOE_URL": place.stack.url, "ZOE_TOKEN": place.stack.token}
    command = [str(_ZOE), "run", "-f", str(_one_line(place))]
    if subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout != "42\n":
        raise SystemExit("`zoe run` printed something else")


def script_bare(place: Place) -> None:
    """Run it by Python."""
    subprocess.run([sys.executable, _one_line(place)], capture_output=True, check=True)


def _one_line(place: Place) -> Path:
    file = place.stack.home.state / "one_line.py"
    file.write_text("print(42)\n")
    return file


def many_here(place: Place) -> None:
    """Run a small program on many workers."""
    program = place.data.directory / "small.py"
    program.write_text(_SMALL)
    document = json.loads((CLONE / "app_descriptions" / "energy-report.json").read_text())
    document["frameworks"][0]["parameters"] |= {"core_workers": WORKERS, "elastic_workers": 0, "worker_cores": 0.1}
    document["frameworks"][0]["overrides"] = {"worker": {"resources": {"cores": 0.05}}}
    driver = document["components"][0]
    driver["resources"] = {"memory": "1GiB", "cores": 0.1, "limits": {"cores": 2}}
    driver["command"] = [*driver["command"][:-5], "{workspace}/energy-report/small.py"]
    place.ended(document)


def many_bare(place: Place, **variables: str) -> None:
    """Run it on as many workers that are started by Spark's own programs."""
    port, program = _free_port(), place.data.directory / "small.py"
    local = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    variables = {**local, "SPARK_LOCAL_DIRS": str(place.stack.home.state / "scratch"), **variables}
    started = []
    try:
        address = ("--host", "127.0.0.1", "--webui-port", 0)
        master = "org.apache.spark.deploy.master.Master"
        started.append(place.bare("spark-class", master, *address, "--port", port, **variables))
        _listens(port)
        for number in range(WORKERS):
            own = ("--cores", 1, "--memory", "512m", "--work-dir", place.stack.home.state / f"worker-{number}")
            worker = "org.apache.spark.deploy.worker.Worker"
            started.append(place.bare("spark-class", worker, *address, *own, f"spark://127.0.0.1:{port}", **variables))
        memory = ("--driver-memory", "512m", "--executor-memory", "512m")
        succeeded(place.bare("spark-submit", "--master", f"spark://127.0.0.1:{port}", *memory, program, **variables))
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _listens(port: int) -> None:
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("Spark's master does not listen")


@contextmanager
def running(home: Home) -> Iterator[Place]:
    """Start a stack with the demo's data."""
    with ExitStack() as all_of_it:
        stack = all_of_it.enter_context(Stack(home))
        data = Dataset(stack.workspace / "energy-report", stack.component_account)
        data.make(lambda _done, _total: None)
        runtime = ensure_runtime(stack.home)
        yield Place(stack, replace(runtime), data)


ROWS: dict[str, tuple[str, Callable[[Place], None], str, Callable[[Place], None]]] = {
    "demo": ("the demo's job", demo_here, "spark-submit local[2]", demo_bare),
    "script": ("zoe run -f one_line.py", script_here, "python one_line.py", script_bare),
    "many": (f"Spark with {WORKERS} workers", many_here, "Spark's own programs", lambda p: many_bare(p, **_PLAIN)),
    "options": (f"Spark with {WORKERS} workers", many_here, "the same with Zoe's Java", many_bare),
}


def main() -> int:
    """Measure the rows that are named, or all; print seconds and ratios."""
    from tests.support.postgres import make_home

    chosen = sys.argv[1:] or list(ROWS)
    print(f"{machine()}; {ROUNDS} rounds")
    table = Table("start")
    directory = make_home(large=True)
    runtimes = os.environ.get(RUNTIMES_VARIABLE) or Home.find(CLONE).runtimes
    try:
        with running(Home(directory, os.geteuid() == 0, Path(runtimes))) as place:
            for name in chosen:
                title, ours, beside, theirs = ROWS[name]
                pairs = [(timed(lambda: ours(place)), timed(lambda: theirs(place))) for _ in range(ROUNDS)]  # noqa: B023 - called at once
                table.row(f"{title}, s", [one for one, _ in pairs])
                table.row(f"{beside}, s", [other for _, other in pairs])
                table.row(f"{title} / {beside}", [one / other for one, other in pairs])
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return table.close() if chosen == list(ROWS) else 0


if __name__ == "__main__":
    sys.exit(main())
