"""One drawn script: its files in a separate directory, and its outcome on one side."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from benchmarks.slurm_scripts.candidates import Candidate, git, git_directory
from benchmarks.slurm_scripts.stand_ins import make_relative_programs

_FILE_BYTES_MAX = 1 << 20
_TEXT_MAX = 50_000
_SIGNAL = re.compile(r"^#SBATCH\s+.*--signal[= ]\s*([\w:]+)", re.M)
_GPU_MODEL = re.compile(r"^(#SBATCH\b.*\bgpus?(?:-per-\w+)?[:=] ?)(?!\d)[\w.-]+:(\d+)", re.M)
_ARRAY = re.compile(r"^(#SBATCH\b.*(?:--array[= ]|-a ?))(\d+)-(\d+)(?![\d:])", re.M)
_INDICES_MAX = 60
_BEFORE_S = 10
# Bash, since other shells drop functions of the environment. Names of a site's partitions and accounts are removed.
_SBATCH = """\
#!/bin/bash
words=()
while (($#)); do
  case $1 in
    --partition=*|--account=*|--qos=*) ;;
    -p|-A|-q|--partition|--account|--qos) shift ;;
    *) words+=("$1") ;;
  esac
  shift
done
exec {} "${{words[@]}}"
"""


@dataclass(frozen=True)
class Case:
    """A script and its number."""

    number: int
    candidate: Candidate

    @property
    def user(self) -> str:
        """Return the name of its user, which is the account on Slurm's side."""
        return f"u{self.number:03d}"

    @property
    def script(self) -> str:
        """Return the name of the script in its directory."""
        return PurePosixPath(self.candidate.path).name

    @property
    def until_signal(self) -> bool:
        """Return whether its programs run until the time limit."""
        return "signals" in self.candidate.kinds


@dataclass
class Outcome:
    """Outcome of a case on one side: a word for each job, in the order of submission; files by name."""

    jobs: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    submission: str = ""
    exit_code: int = 0


def unpack(case: Case, mirrors: Path, work: Path) -> list[str]:
    """Copy the script's directory, and return the texts of the scripts in it."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    directory = git_directory(mirrors, case.candidate.repository)
    inside = str(PurePosixPath(case.candidate.path).parent)
    tree = "HEAD" if inside == "." else f"HEAD:{inside}"
    archive = work.with_suffix(".tar")
    archive.write_bytes(git(directory, "archive", "--format=tar", tree))
    with tarfile.open(archive) as opened:
        for member in opened:
            if (member.isfile() and member.size <= _FILE_BYTES_MAX) or member.isdir():
                opened.extract(member, work, filter="data")
    archive.unlink()
    return _prepare(case, work)


def _prepare(case: Case, work: Path) -> list[str]:
    texts = []
    for place in sorted(work.rglob("*")):
        text = read_text(place)
        if text is None or not (text.startswith("#!") or "#SBATCH" in text):
            continue
        # Also in scripts that a drawn one submits: on both sides, the first indices of a big array run.
        place.write_text(_ARRAY.sub(_first_indices, _GPU_MODEL.sub(r"\1\2", text)))
        texts.append(text)
    script = work / case.script
    script.chmod(0o755)
    make_relative_programs(work, [script.read_text()], until_signal=case.until_signal)
    return texts


def _first_indices(found: re.Match[str]) -> str:
    first, last = int(found[2]), int(found[3])
    return found[0] if last - first < _INDICES_MAX else f"{found[1]}{first}-{first + 19}"


def read_text(place: Path) -> str | None:
    """Return the text of a file; None if it is not text."""
    try:
        if place.is_symlink() or not place.is_file() or place.stat().st_size > _FILE_BYTES_MAX:
            return None
        return place.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def options(case: Case, work: Path) -> list[str]:
    """Return the options that both sides add."""
    found = ["--time=1"]
    given = _SIGNAL.search((work / case.script).read_text(errors="replace"))
    return [*found, f"--signal={given[1]}@{_BEFORE_S}"] if given else found


def files_of(work: Path, before: dict[str, str]) -> dict[str, str]:
    """Return the new and changed files."""
    now = snapshot(work)
    return {name: text for name, text in now.items() if before.get(name) != text}


def snapshot(work: Path) -> dict[str, str]:
    """Return all files and empty directories; of long texts the beginning."""
    found = {}
    for place in sorted(work.rglob("*")):
        name = str(place.relative_to(work))
        if place.is_dir() and not any(place.iterdir()):
            found[f"{name}/"] = ""
        elif place.is_file():
            text = read_text(place)
            found[name] = "(no text)" if text is None else text[:_TEXT_MAX]
    return found


def give(work: Path, uid: int, gid: int) -> None:
    """Give a directory and all in it to a user."""
    subprocess.run(["chown", "-R", "-h", f"{uid}:{gid}", str(work)], check=True)


def start(
    case: Case, work: Path, tools: Path, program: Sequence[str], environment: dict[str, str], account: tuple[int, int]
) -> subprocess.CompletedProcess[str]:
    """Submit the script, or run it if it submits others, as its user would, by an `sbatch` that adds the options."""
    tools.mkdir(parents=True, exist_ok=True)
    sbatch = tools / "sbatch"
    sbatch.write_text(_SBATCH.format(" ".join([*program, *options(case, work)])))
    sbatch.chmod(0o755)
    words = [f"./{case.script}"] if case.candidate.driver else ["sbatch", case.script]
    path = os.pathsep.join((str(tools), environment["PATH"]))
    return subprocess.run(
        ["setpriv", f"--reuid={account[0]}", f"--regid={account[1]}", "--clear-groups", "--", *words],
        cwd=work,
        env={**environment, "PATH": path, "PWD": str(work)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=240,
        check=False,
    )
