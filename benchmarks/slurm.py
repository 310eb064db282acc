"""Debian's Slurm on this machine, for comparisons: a separate controller and node, which end with the `with`."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

CORES = 64  # as many small jobs at a time as Zoe's node takes
NODE = "zoenode"
"""Names of nodes begin with it, if there are several."""
_WITHIN_S = 30.0
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo")


class Slurm:
    """Runs as root; uses only the programs of an installed Slurm.

    `nodes` virtual nodes, each with a slurmd; `values` replace lines of slurm.conf; each node has so many `gpus`, which
    are empty files.
    """

    def __init__(self, nodes: int = 1, values: Mapping[str, object] | None = None, gpus: int = 0) -> None:
        self._nodes, self._values, self._gpus = nodes, dict(values or {}), gpus
        self._base = Path(tempfile.mkdtemp(prefix="zoe-slurm-"))
        self._processes: list[subprocess.Popen[bytes]] = []
        self._environment = {**os.environ, "SLURM_CONF": str(self._base / "slurm.conf")}
        self._job = self._base / "job.sh"

    def __enter__(self) -> Slurm:
        missing = [program for program in _PROGRAMS if _path(program) is None]
        if missing:
            raise SystemExit(f"not installed: {', '.join(missing)} (packages slurmctld, slurmd, slurm-client, munge)")
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.wait()
        shutil.rmtree(self._base, ignore_errors=True)

    def submit(self, *options: str) -> None:
        """Submit one script that runs `true`; it is held unless the options say otherwise."""
        self._run("sbatch", "--quiet", "--output=/dev/null", *(options or ("--hold",)), str(self._job))

    def run_array(self, jobs: int) -> None:
        """Run so many jobs and wait until the last has ended."""
        self.submit(f"--array=1-{jobs}", "--job-name=array")
        while self._run("squeue", "--noheader", "--format=%T", "--name=array").strip():
            time.sleep(0.05)

    def list(self, *options: str) -> str:
        """Return the output of squeue."""
        return self._run("squeue", "--noheader", *options)

    def show(self, name: str) -> str:
        """Return why the first job of this name waits."""
        return self._run("squeue", "--noheader", "--format=%i %r", f"--name={name}")

    def clear(self) -> None:
        """Cancel everything that is held."""
        self._run("scancel", "--user=root")

    @property
    def version(self) -> str:
        """Return its version."""
        return self._run("sbatch", "--version").strip()

    @property
    def configuration_file(self) -> Path:
        """Return its slurm.conf, which clients find by SLURM_CONF."""
        return self._base / "slurm.conf"

    def _start(self) -> None:
        self._base.chmod(0o755)
        self._job.write_text("#!/bin/sh\nexec true\n")
        key, munge = self._base / "munge.key", self._base / "munge.socket"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        host = socket.gethostname().partition(".")[0]
        names = [host] if self._nodes == 1 else [f"{NODE}{number}" for number in range(1, self._nodes + 1)]
        self.configuration_file.write_text(self._configuration(host, munge, names))
        self._make_gpus()
        self._spawn(
            *("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}"),
            *(f"--pid-file={self._base}/munged.pid", f"--log-file={self._base}/munged.log"),
            f"--seed-file={self._base}/munged.seed",
        )
        self._spawn("slurmctld", "-D", "-c")
        for name in names:
            self._spawn("slurmd", "-D", "-N", name)
        give_up_s = time.monotonic() + _WITHIN_S
        while {*self._run("sinfo", "--noheader", "--format=%T", check=False).split()} != {"idle"}:
            if time.monotonic() > give_up_s:
                raise SystemExit(f"Slurm does not come up: {self._log()}")
            time.sleep(0.2)

    def _make_gpus(self) -> None:
        if not self._gpus:
            return
        for number in range(self._gpus):
            (self._base / f"gpu{number}").touch()
        (self._base / "gres.conf").write_text(f"Name=gpu File={self._base}/gpu[0-{self._gpus - 1}]\n")

    def _configuration(self, host: str, munge: Path, names: Sequence[str]) -> str:
        controller, *nodes = _ports(1 + len(names))
        (self._base / "spool").mkdir(mode=0o755)
        values: dict[str, object] = {
            "ClusterName": "bench",
            "SlurmctldHost": f"{host}(127.0.0.1)",
            "SlurmctldPort": controller,
            "SlurmUser": "root",
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={munge}",
            "CredType": "cred/munge",
            "StateSaveLocation": self._make_directory("state"),
            "SlurmdSpoolDir": self._base / "spool" / "%n",
            "SlurmctldPidFile": self._base / "slurmctld.pid",
            "SlurmdPidFile": self._base / "slurmd-%n.pid",
            "SlurmctldLogFile": self._base / "slurmctld.log",
            "SlurmdLogFile": self._base / "slurmd-%n.log",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_Core",
            "SlurmdParameters": "config_overrides",
            "MaxJobCount": 100_000,
            "MaxArraySize": 10_001,
            "MinJobAge": 2,
            "ReturnToService": 2,
            **({"GresTypes": "gpu"} if self._gpus else {}),
            **self._values,
        }
        partition = values.pop("Partition", "main")
        of_each = values.pop("Node", f"CPUs={CORES}")
        devices = f" Gres=gpu:{self._gpus}" if self._gpus else ""
        lines = [f"{name}={value}" for name, value in values.items()]
        lines += [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {of_each}{devices} State=UNKNOWN"
            for name, port in zip(names, nodes, strict=True)
        ]
        lines.append(f"PartitionName={partition} Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
        return "\n".join(lines) + "\n"

    def _make_directory(self, name: str) -> Path:
        (self._base / name).mkdir(mode=0o755)
        return self._base / name

    def _spawn(self, program: str, *arguments: str) -> None:
        path = _path(program)
        assert path is not None
        with (self._base / f"{program}.out").open("ab") as log:
            self._processes.append(
                subprocess.Popen([path, *arguments], env=self._environment, stdout=log, stderr=log, cwd=self._base)
            )

    def _run(self, program: str, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            [_path(program) or program, *arguments],
            env=self._environment,
            check=check,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def _log(self) -> str:
        return "\n".join(path.read_text()[-1000:] for path in sorted(self._base.glob("*.log")))


def _path(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def _ports(number: int) -> list[int]:
    """Return so many free ports, all different."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [int(server.getsockname()[1]) for server in servers]
