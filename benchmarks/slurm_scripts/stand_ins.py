"""Stand-ins for missing programs that scripts call: the same ones on both sides."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from benchmarks.slurm_scripts.candidates import body_of

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
HANDLE = "BASH_FUNC_command_not_found_handle%%"
HANDLE_TEXT = '() { echo "stand-in: $*"; echo "$*" 2>/dev/null >> "stand-in-${1##*/}.txt"; return 0; }'
"""Function for Bash, for programs whose names a script composes."""
_SIGNAL_S = 120
_SCRIPTS = (".sh", ".slurm", ".sbatch", ".job", ".batch")  # sbatch would find them on PATH
_WORD = re.compile(r"(?<![\w/.$={\-])[A-Za-z_][\w.+-]{0,40}(?![\w=(])")
_HERE = re.compile(r"(?:^|[;&|]|\b(?:srun|time|mpirun|mpiexec|exec|nohup)\b[^\n;&|]*?\s)\s*\./([\w-][\w./-]*)", re.M)
# Programs that would use the network, take long, or print changing output.
_ALWAYS = [
    "apptainer",
    "conda",
    "curl",
    "df",
    "docker",
    "du",
    "free",
    "g++",
    "gcc",
    "gfortran",
    "git",
    "groups",
    "lscpu",
    "mail",
    "make",
    "mamba",
    "ml",
    "module",
    "mpicc",
    "mpiexec",
    "mpirun",
    "numactl",
    "nvidia-smi",
    "pip",
    "pip3",
    "ps",
    "rsync",
    "scp",
    "sendmail",
    "singularity",
    "source",
    "ssh",
    "su",
    "sudo",
    "taskset",
    "top",
    "uptime",
    "wget",
    "whoami",
    "R",
    "Rscript",
    "julia",
    "matlab",
    "java",
    "activate",
    "deactivate",
]
# Programs that prepare something and return, even if other programs run until a signal comes.
_QUICK = [
    "activate",
    "conda",
    "curl",
    "deactivate",
    "df",
    "du",
    "free",
    "git",
    "groups",
    "lscpu",
    "mail",
    "mamba",
    "ml",
    "module",
    "nvidia-smi",
    "pip",
    "pip3",
    "ps",
    "rsync",
    "scp",
    "sendmail",
    "source",
    "top",
    "uptime",
    "wget",
    "whoami",
    "nodeset",
    "tee",
]
_SLEEP = '#!/bin/sh\ncase "$1" in 0*|1|2|1s|2s) exec /bin/sleep "$1";; *) exec /bin/sleep 2;; esac\n'


def make_programs(directory: Path, texts: list[str], *, until_signal: bool) -> None:
    """Write a program for each word of these scripts that may be one.

    With `until_signal` most run for two minutes, else none, and `sleep` sleeps two seconds at most.
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    words = {word for text in texts for word in _WORD.findall(body_of(text)) if not word.endswith(_SCRIPTS)}
    own = _of_the_shell()
    path = os.pathsep.join(SYSTEM_PATH)
    for word in sorted(
        {*_ALWAYS, *(word for word in words - own if shutil.which(word, path=path) is None)} - {"source"}
    ):
        _write(directory / word, _program(word, until_signal))
    if not until_signal:
        _write(directory / "sleep", _SLEEP)


def make_relative_programs(work: Path, texts: list[str], *, until_signal: bool) -> None:
    """Write a program for each `./NAME` that a script calls and its repository has not."""
    for text in texts:
        for name in _HERE.findall(body_of(text)):
            place = work / name
            if ".." not in name and not place.exists() and place.parent.is_dir():
                _write(place, _program(name, until_signal))


def _program(name: str, until_signal: bool) -> str:
    waits = f"exec /bin/sleep {_SIGNAL_S}\n" if until_signal and name not in _QUICK else ""
    return (
        '#!/bin/sh\necho "stand-in: ${0##*/} $*"\n'
        '{ echo "${0##*/} $*" >> "stand-in-${0##*/}.txt"; } 2>/dev/null || :\n' + waits
    )


def _write(place: Path, text: str) -> None:
    place.write_text(text)
    place.chmod(0o755)


def _of_the_shell() -> set[str]:
    return set(subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=True).stdout.split())
