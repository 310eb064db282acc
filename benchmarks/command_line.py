"""CPU time of quick commands, user and system, beside an idle Python, and how many a loop runs in a second.

The helper's processes are not in the CPU time of a command that it runs; the loop shows what both take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.ranges import Table
from benchmarks.support import machine, temporary_home
from tests.cli.helper import Helper
from tests.support.documents import job
from zoe_client import Client
from zoe_embedded.stack import Stack

RUNS = 20
LOOP = 100
LISTED = 20
_PYTHON = [sys.executable, "-c", "pass"]
_ZOE = str(Path(sysconfig.get_path("scripts")) / "zoe")
_SCRIPT = "#!/bin/bash\n#SBATCH --ntasks=1\ntrue\n"

Commands = dict[str, list[list[str]]]


def main() -> int:
    """Measure each command with the helper and without, and print the figures beside the goals."""
    print(machine())
    table = Table("command line")
    with temporary_home() as home, Stack(home, spark=False, master=False) as stack:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment |= {"ZOE_URL": stack.url, "ZOE_TOKEN": stack.token}
        plain = {**environment, "ZOE_HELPER": "0"}
        table.row("python -c pass, CPU s", [cpu_s(_PYTHON, plain) for _ in range(RUNS)])
        with _helped(environment, home.state) as helped:
            for title, calls in _commands(stack, home.state, RUNS + LOOP).items():
                table.row(f"zoe {title}, CPU s", [cpu_s(command, helped) for command in calls[:RUNS]])
                table.row(f"zoe {title}, per second in a loop", [_per_second(calls[RUNS:], helped)])
        for title, calls in _commands(stack, home.state, RUNS).items():
            table.row(f"zoe {title}, no helper, CPU s", [cpu_s(command, plain) for command in calls])
        table.row("zoe --help, no helper, CPU s", [cpu_s([_ZOE, "--help"], plain) for _ in range(RUNS)])
    return table.close()


def _commands(stack: Stack, folder: Path, count: int) -> Commands:
    """Return this many calls of each command, on executions of their own where they change one."""
    file, script = folder / "app.json", folder / "job.sh"
    file.write_text(json.dumps(job("true")))
    script.write_text(_SCRIPT)
    with Client(stack.url, stack.token) as client:
        ids = [client.submit(job("true")).id for _ in range(count)]
    return {
        "ls": [[_ZOE, "ls", "-n", str(LISTED)]] * count,
        "show ID": [[_ZOE, "show", ids[0]]] * count,
        "run FILE -o name": [[_ZOE, "run", str(file), "-o", "name"]] * count,
        "sbatch FILE": [[_ZOE, "sbatch", str(script)]] * count,
        "cancel ID": [[_ZOE, "cancel", text] for text in ids],
    }


@contextmanager
def _helped(environment: Mapping[str, str], folder: Path) -> Iterator[dict[str, str]]:
    """Start a helper; yield the variables with which commands use it."""
    runtime = folder / "runtime"
    runtime.mkdir(0o700)
    variables = {**environment, "XDG_RUNTIME_DIR": str(runtime), "ZOE_HELPER": "1"}
    helper = Helper(variables, runtime / "zoe")
    helper.start()
    try:
        yield variables
    finally:
        helper.end()


def _per_second(calls: list[list[str]], environment: Mapping[str, str]) -> float:
    began_s = time.monotonic()
    for command in calls:
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return len(calls) / (time.monotonic() - began_s)


def cpu_s(command: list[str], environment: Mapping[str, str]) -> float:
    """Return the CPU seconds of a command, which must succeed."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
