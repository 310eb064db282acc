"""The first node of a job: run the script, write its output to files, and exit with its code."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from zoe_job.common.channel import SECRET, listen
from zoe_job.common.groups import NODES
from zoe_job.common.job import Job, job_id, node_names, read_job, variables
from zoe_job.common.patterns import fill
from zoe_job.steps.held_cores import Ledger
from zoe_job.steps.networks import subnet_to
from zoe_job.steps.node import Node

SCRIPT = "slurm_script"
"""Name of the script in `$0`, which scripts compare."""
FOR_SHELLS = ".zoe-environment"
"""Name of the file in the temporary directory that terminals read."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PIECE = 1 << 16
_FAILED, _NOT_RUN, _NO_PROGRAM = 1, 126, 127  # as in shells


def main() -> None:
    """Run the script, or wait as a further node: `python3 {files} run ...`, or `node FIRST INSTANCE HOST PORT`."""
    if sys.argv[1] == "node":
        first, instance, host, port = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
        Node(first + instance, str(port)).serve(listen(str(port), host, port))
        threading.Event().wait()
    files = Path(__file__).resolve().parents[2]
    sys.exit(run(read_job(files), files, sys.argv[2:]))


def run(job: Job, files: Path, arguments: list[str]) -> int:
    """Run the script and return its exit code; 128 and the number of the signal that killed it."""
    own = f"{job_id(dict(os.environ))}-{os.environ.get('ZOE_JOB_ATTEMPT', '1')}"
    others = [part for part in os.environ.get("ZOE_JOB_NODES", "").split(",") if part]
    addresses = [f"{os.environ.get('ZOE_JOB_HOST', '127.0.0.1')}:{own}", *others]
    cores = [group.tasks_on_each * group.cpus_per_task for group in job.groups for _ in range(group.nodes)]
    node = Node(0, own, Ledger(cores))
    node.serve(listen(own, None, None))
    environment = node.environment = _environment(job, files, addresses, own)
    try:
        _enter(job, environment)
        _mention(job, environment)
        outputs = _open_outputs(job, environment)
        _write_for_shells(environment)
        signals = _Signals()
        process = _start(job, files, arguments, environment)
    except _NotStartedError as error:
        print(f"zoe: {error}", file=sys.stderr, flush=True)
        return error.code
    signals.go_to(process)
    _warn_before_the_end(job, process, node)
    pumps = _copy_output(process, outputs)
    code = process.wait()
    for pump in pumps:
        pump.join(5)  # a process that the script left behind may keep the pipe open
    sys.stdout.flush()
    if node.missing:
        _tell_missing(node.missing)
        code = code or _FAILED
    return code if code >= 0 else 128 - code


class _Signals:
    """Passes signals of the service on to all processes of the script, as Slurm does; earlier ones afterwards."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
            signal.signal(number, self._take)

    def go_to(self, process: subprocess.Popen[bytes]) -> None:
        """Set the process that leads the script's group."""
        self._process = process
        for number in self._early:
            self._take(number, None)

    def _take(self, number: int, _: object) -> None:
        if self._process is None:
            self._early.append(number)
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def _tell_missing(calls: list[str]) -> None:
    """Print why a job has failed although its script may have ended with 0."""
    print("zoe: the job has failed: these calls do not exist in a job of Zoe:", file=sys.stderr)
    print(*(f"zoe:   {call}" for call in calls), sep="\n", file=sys.stderr, flush=True)


def _environment(job: Job, files: Path, addresses: list[str], own: str) -> dict[str, str]:
    given = {name: text for name, text in os.environ.items() if not name.startswith("ZOE_JOB_")}
    names = node_names(addresses, SECRET.exists())
    bin_directory = files / "bin"
    found = {
        **given,
        **variables(job, names, dict(os.environ)),
        **job.variables,
        "PATH": os.pathsep.join((str(bin_directory), job.variables.get("PATH") or given.get("PATH", os.defpath))),
        "HOME": os.environ.get("ZOE_JOB_WORKSPACE") or given.get("HOME", "/"),
        "ZOE_SRUN": own,
        "ZOE_PYTHON": sys.executable,
        NODES: ",".join(names),
        "ZOE_SRUN_NODES": ",".join((own, *addresses[1:])),
    }
    if SECRET.exists() and len(addresses) > 1 and (subnet := subnet_to(addresses[1].rpartition(":")[0])) is not None:
        # A container on an overlay network has another interface too, with the same address on each engine.
        for name in ("OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"):
            found.setdefault(name, subnet)
    if "l" in _shell_letters(files / SCRIPT):
        # A login shell resets PATH, but reads functions from its environment.
        for program in sorted(path.name for path in bin_directory.iterdir()):
            found[f"BASH_FUNC_{program}%%"] = f'() {{ "{bin_directory / program}" "$@"; }}'
    return found


def _shell_letters(script: Path) -> str:
    with script.open(errors="replace") as stream:
        words = stream.readline().split()[1:]
    return "".join("l" if word == "--login" else word for word in words if word.startswith("-"))


def _write_for_shells(environment: dict[str, str]) -> None:
    """Write the variables and the directory of the script where shells that users open in the job read them."""
    given = [(name, text) for name, text in environment.items() if _NAME.fullmatch(name) and name != "PWD"]
    lines = [f"export {name}={shlex.quote(text)}\n" for name, text in given if os.environ.get(name) != text]
    place = Path(os.environ.get("TMPDIR", "/tmp")) / FOR_SHELLS  # noqa: S108 - inside a container it is that container's own
    with suppress(OSError):
        place.touch(mode=0o600)
        place.write_text(f"{''.join(lines)}cd {shlex.quote(str(Path.cwd()))}\n", errors="surrogateescape")


def _enter(job: Job, environment: dict[str, str]) -> None:
    if job.directory is None:
        return
    wanted = Path(os.path.expandvars(job.directory))
    try:
        os.chdir(wanted)
    except OSError as error:
        raise _NotStartedError(f"cannot enter {wanted}: {error.strerror}", _FAILED) from None
    environment["PWD"] = str(Path.cwd())


def _mention(job: Job, environment: dict[str, str]) -> None:
    """Print the lines with another effect than on a cluster of Slurm."""
    modules = any(name in environment for name in ("MODULESHOME", "LMOD_CMD", "BASH_FUNC_module%%"))
    if job.module_lines and not modules:
        _say("there is no `module` here", job.module_lines)
    if job.conda_lines and shutil.which("conda", path=environment["PATH"]) is None:
        _say("there is no `conda` on the PATH", job.conda_lines)

    if job.arithmetic_lines:
        _say("the id of a job is a string here, not a number", job.arithmetic_lines, "computes with it")


def _say(what: str, lines: list[int], how: str = "asks for it") -> None:
    which = ", ".join(map(str, lines[:10])) + (", ..." if len(lines) > 10 else "")
    print(f"zoe: {what}; the script {how} in line {which}", file=sys.stderr, flush=True)


class _NotStartedError(Exception):
    def __init__(self, why: str, code: int) -> None:
        self.code = code
        super().__init__(why)


def _start(job: Job, files: Path, arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    joined = job.error is None or job.error == job.output
    name = os.devnull if job.input is None else fill(job.input, environment)
    try:
        given = os.open(name, os.O_RDONLY)
    except OSError as error:
        raise _NotStartedError(f"cannot read {name}: {error.strerror}", _FAILED) from None
    try:
        return subprocess.Popen(
            [str(files / SCRIPT), *arguments],
            env=environment,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if joined else subprocess.PIPE,
            # The group of this process gets SIGTERM too. A shell that gets it twice, from there and from here, dies
            # before the end of its trap; and `kill 0` of a script must not reach this process.
            start_new_session=True,
        )
    except OSError as error:
        with (files / SCRIPT).open(errors="replace") as stream:
            interpreter = stream.readline().removeprefix("#!").strip()
        why = f"cannot run the interpreter of the script, {interpreter}: {error.strerror}"
        raise _NotStartedError(why, _NO_PROGRAM if isinstance(error, FileNotFoundError) else _NOT_RUN) from None
    finally:
        os.close(given)


def _open_outputs(job: Job, environment: dict[str, str]) -> list[IO[bytes]]:
    """Return the files of standard output and, if separate, of errors. As in Slurm, no job runs without them."""
    default = "slurm-%A_%a.out" if "SLURM_ARRAY_JOB_ID" in environment else "slurm-%j.out"
    patterns = [job.output or default]
    if job.error is not None and job.error != job.output:
        patterns.append(job.error)
    files: list[IO[bytes]] = []
    for name in (fill(pattern, environment) for pattern in patterns):
        try:
            files.append(Path(name).open("ab" if job.append else "wb", buffering=0))  # noqa: SIM115 - open as long as the job
        except OSError as error:
            raise _NotStartedError(f"cannot open {name}: {error.strerror}", _FAILED) from None
    return files


def _copy_output(process: subprocess.Popen[bytes], files: list[IO[bytes]]) -> list[threading.Thread]:
    threads = []
    streams = ((process.stdout, sys.stdout.buffer), (process.stderr, sys.stderr.buffer))
    for (stream, own), file in zip(streams, files, strict=False):
        assert stream is not None
        threads.append(threading.Thread(target=_copy, args=(stream, own, file), daemon=True))
        threads[-1].start()
    return threads


def _copy(stream: IO[bytes], own: IO[bytes], file: IO[bytes] | None) -> None:
    while piece := os.read(stream.fileno(), _PIECE):
        own.write(piece)
        own.flush()
        if file is not None:
            try:
                file.write(piece)
            except OSError as error:
                print(f"zoe: {error}", file=sys.stderr, flush=True)
                file = None


def _warn_before_the_end(job: Job, process: subprocess.Popen[bytes], node: Node) -> None:
    """Send the signal of `--signal` so long before the time limit: to the steps, or with `B:` to the shell."""
    if job.signal is None or job.time_limit_s is None:
        return
    number = job.signal
    warn = process.send_signal if job.signal_to_shell else node.signal_steps
    timer = threading.Timer(max(job.time_limit_s - job.signal_before_s, 0), lambda: warn(number))
    timer.daemon = True
    timer.start()
