"""Options of sbatch and srun: their names, and whether they take a value. Source: the manuals of Slurm 23.11."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# A name is followed by its letter, if it has one, and by `=` if it takes a value, or `?` if it may.
_SBATCH = """
account A= acctg-freq = array a= batch = bb = bbf = begin b= chdir D= cluster-constraint = clusters M= comment =
constraint C= container = container-id = contiguous . core-spec S= cores-per-socket = cpu-freq = cpus-per-gpu =
cpus-per-task c= deadline = delay-boot = dependency d= distribution m= error e= exclude x= exclusive ? export =
export-file = extra-node-info B= get-user-env ? gid = gpu-bind = gpu-freq = gpus G= gpus-per-node = gpus-per-socket =
gpus-per-task = gres = gres-flags = hint = hold H. ignore-pbs . input i= job-name J= kill-on-invalid-dep = licenses L=
mail-type = mail-user = mcs-label = mem = mem-bind = mem-per-cpu = mem-per-gpu = mincpus = network = nice ? no-kill ?
no-requeue . nodefile F= nodelist w= nodes N= ntasks n= ntasks-per-core = ntasks-per-gpu = ntasks-per-node =
ntasks-per-socket = oversubscribe s? open-mode = output o= overcommit O. parsable . partition p= power = prefer =
priority = profile = propagate ? qos q= quiet Q. reboot . requeue . reservation = signal = sockets-per-node =
spread-job . switches = test-only . thread-spec = threads-per-core = time t= time-min = tmp = tres-bind =
tres-per-task = uid = use-min-nodes . verbose v. wait W. wait-all-nodes = wckey = wrap =
"""
_SRUN = """
accel-bind = bcast ? compress ? cpu-bind = cpus-per-gpu = disable-status X. epilog = exact . het-group =
immediate I? interactive . jobid = kill-on-bad-exit K? label l. launch-cmd . mpi = msg-timeout = multi-prog .
overlap . preserve-env E. prolog = pty . quit-on-interrupt . relative r= resv-ports ? send-libs ? slurmd-debug =
task-epilog = task-prolog = threads T= unbuffered u. wait W= whole . x11 ?
"""
SRUN_MISSING = {
    **dict.fromkeys(("epilog", "prolog", "task-epilog", "task-prolog"), "programs around tasks are not run"),
    **dict.fromkeys(("bcast", "container", "container-id", "launch-cmd", "pty", "x11", "uid", "gid", "test-only"), ""),
    "wait": "the tasks of a step end by themselves, or with -K",
}
"""Options of srun without which a step would behave differently: name -> why they do not exist here, if it helps."""
_WITHOUT_PMI = ("none", "openmpi")
_OLD_NAMES = {
    "tasks-per-node": "ntasks-per-node",
    "workdir": "chdir",
    "share": "oversubscribe",
    "cluster": "clusters",
    "cpu_bind": "cpu-bind",
}


@dataclass(frozen=True)
class Given:
    """One option as written; `line` 0 is the command line."""

    name: str
    value: str | None
    line: int = 0


class BadOptionError(ValueError):
    """An option that is invalid; the text names it."""


class MissingOptionError(BadOptionError):
    """An option that Slurm has and Zoe lacks, and without which a step would behave differently."""


def missing_of(given: Iterable[Given]) -> str | None:
    """Return the reason why a step of srun is impossible here; None if it is possible."""
    for entry in given:
        if entry.name == "mpi" and entry.value not in _WITHOUT_PMI:
            return f"--mpi={entry.value}: there is no PMI, and each process would run alone; use mpirun"
        if entry.name in SRUN_MISSING:
            why = SRUN_MISSING[entry.name]
            return f"--{entry.name} is not supported{f': {why}' if why else ''}"
    return None


def _table(text: str) -> dict[str, tuple[str, str]]:
    words = text.split()
    return {name: (mark[:-1], mark[-1]) for name, mark in zip(words[::2], words[1::2], strict=True)}


SBATCH = _table(_SBATCH)
SRUN = {**SBATCH, **_table(_SRUN)}


def read(
    words: Sequence[str], options: dict[str, tuple[str, str]], line: int = 0
) -> tuple[list[Given], list[str], list[str]]:
    """Return the options before the first other word, the words from there on, and the unknown options."""
    given: list[Given] = []
    unknown: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        try:
            given += _long(word, rest, options, line) if word.startswith("--") else _short(word, rest, options, line)
        except LookupError:
            unknown.append(word)
    return given, rest, unknown


def _long(word: str, rest: list[str], options: dict[str, tuple[str, str]], line: int) -> Iterator[Given]:
    written, equals, value = word[2:].partition("=")
    name = _full_name(written, options)
    mark = options[name][1]
    if mark == "." and equals:
        raise BadOptionError(f"--{name} takes no value")
    if mark == "=" and not equals:
        value = _next_value(rest, f"--{name}")
    return iter((Given(name, value if equals or mark == "=" else None, line),))


def _full_name(written: str, options: dict[str, tuple[str, str]]) -> str:
    """Return the full name of an option: of an old name, or of a unique prefix, as in getopt."""
    written = _OLD_NAMES.get(written, written)
    if written in options:
        return written
    longer = [name for name in options if written and name.startswith(written)]
    if len(longer) != 1:
        raise LookupError(written)
    return longer[0]


def _short(word: str, rest: list[str], options: dict[str, tuple[str, str]], line: int) -> list[Given]:
    """Return the options in one word: `-n4`, or several letters without values and one with a value."""
    given: list[Given] = []
    letters = word[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        name = next((name for name, (own, _) in options.items() if own == letter), None)
        if name is None:
            raise LookupError(word)
        mark = options[name][1]
        if mark == ".":
            given.append(Given(name, None, line))
            continue
        value = letters.removeprefix("=") if letters else (_next_value(rest, f"-{letter}") if mark == "=" else None)
        given.append(Given(name, value, line))
        break
    return given


def _next_value(rest: list[str], option: str) -> str:
    if not rest:
        raise BadOptionError(f"{option} needs a value")
    return rest.pop(0)
