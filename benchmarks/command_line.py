"""CPU time of quick commands, user and system, beside an idle Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from benchmarks.ranges import Table
from benchmarks.support import machine, temporary_home
from tests.support.documents import job
from zoe_client import Client
from zoe_embedded.stack import Stack

RUNS = 20
LISTED = 20


def main() -> int:
    """Measure each command, and print the figures beside the goals."""
    print(machine())
    zoe = str(Path(sysconfig.get_path("scripts")) / "zoe")
    table = Table("command line")
    with temporary_home() as home, Stack(home, spark=False, master=False) as stack:
        file = home.state / "app.json"
        file.write_text(json.dumps(job("true")))
        with Client(stack.url, stack.token) as client:
            shown, *cancelled = [client.submit(job("true")).id for _ in range(LISTED)]
        environment = {**os.environ, "ZOE_URL": stack.url, "ZOE_TOKEN": stack.token}
        commands: dict[str, list[list[str]]] = {
            "python -c pass, CPU s": [[sys.executable, "-c", "pass"]],
            "zoe ls, CPU s": [[zoe, "ls"]],
            "zoe show ID, CPU s": [[zoe, "show", shown]],
            "zoe run FILE -o name, CPU s": [[zoe, "run", str(file), "-o", "name"]],
            "zoe cancel ID, CPU s": [[zoe, "cancel", text] for text in cancelled],
            "zoe --help, CPU s": [[zoe, "--help"]],
        }
        for title, calls in commands.items():
            table.row(title, [cpu_s(calls[n % len(calls)], environment) for n in range(RUNS)])
    return table.close()


def cpu_s(command: list[str], environment: dict[str, str]) -> float:
    """Return the CPU seconds of a command, which must succeed."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
