"""The CPU seconds of a command, by program: `python -m benchmarks.programs make test`.

The whole machine is counted, including daemons and containers, so nothing else should run. Processes are sampled once a
second; the last row is for shorter ones and the kernel.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict

import psutil

from benchmarks.support import machine

INTERVAL_S = 1.0
_OURS = ("zoe_", "zoe-", "forkserver", "multiprocessing")
_BY_NAME = {
    "java": "Java virtual machines (Spark)",
    "chromium": "Chromium",
    "postgres": "PostgreSQL",
    "node": "Node.js",
    "dockerd": "container engines",
    "docker": "container engines",
    "containerd": "container engines",
    "containerd-shim-runc-v2": "container engines",
    "runc": "container engines",
    "memcached": "Swift",
}
_BY_WORD = (
    ("swift", "Swift"),
    ("pytest", "the tests' own processes"),
    ("jupyter", "JupyterLab and its kernels"),
    ("ipykernel", "JupyterLab and its kernels"),
    ("chrom", "Chromium"),
    ("uv", "installing packages"),
)


def main() -> int:
    """Run the command and print the table; return the command's exit code."""
    if not sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    began_s, machine_began_s = time.monotonic(), _machine_cpu_s()
    seen: dict[tuple[int, float], tuple[str, float]] = {}
    before = {key: cpu_s for key, (_, cpu_s) in _processes().items()}
    command = subprocess.Popen(sys.argv[1:])
    while command.poll() is None:
        seen.update(_processes())
        time.sleep(INTERVAL_S)
    wall_s, machine_s = time.monotonic() - began_s, _machine_cpu_s() - machine_began_s
    cpu: defaultdict[str, float] = defaultdict(float)
    for key, (program, cpu_s) in seen.items():
        cpu[program] += cpu_s - before.get(key, 0.0)
    print(f"\n`{' '.join(sys.argv[1:])}` on {machine()}: {wall_s:.0f} s, {machine_s:.0f} CPU s.\n")
    print("| program | CPU s |\n|---|---|")
    for program, cpu_s in sorted(cpu.items(), key=lambda item: -item[1]):
        print(f"| {program} | {cpu_s:.0f} |")
    print(f"| not seen: shorter than {INTERVAL_S:g} s, or the kernel | {machine_s - sum(cpu.values()):.0f} |")
    return command.returncode


def _machine_cpu_s() -> float:
    times = psutil.cpu_times()
    return times.user + times.system + times.nice + times.irq + times.softirq


def _processes() -> dict[tuple[int, float], tuple[str, float]]:
    """Return program and CPU seconds of every process, by its pid and start time."""
    found = {}
    for process in psutil.process_iter(["name", "cmdline", "cpu_times", "create_time"]):
        told = process.info
        if told["cpu_times"] is not None:
            cpu_s = told["cpu_times"].user + told["cpu_times"].system
            found[process.pid, told["create_time"]] = (_program(told["name"], told["cmdline"] or []), cpu_s)
    return found


def _program(name: str, arguments: list[str]) -> str:
    if name in _BY_NAME:
        return _BY_NAME[name]
    text = " ".join(arguments[:4])
    if "benchmarks.programs" in text:
        return "this measurement"
    for word, program in _BY_WORD:
        if word in text:
            return program
    if any(word in text for word in _OURS):
        return "Zoe's own processes"
    return "other programs"


if __name__ == "__main__":
    sys.exit(main())
