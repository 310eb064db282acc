"""Candidates among the scripts of fetched repositories, their kinds, and the draw."""

from __future__ import annotations

import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

KINDS = ("arrays", "chains", "steps", "signals")
SEVERAL = "several steps"
"""A kind that is not drawn: there are too few."""
_EACH = 20
_OF_ONE_REPOSITORY = 12
"""Most scripts of one repository, so that no site dominates; twice as many if a kind lacks others."""
_BYTES_MAX = 20_000
_NODES_MAX = 16
_INDICES_MAX = 60
_NOT_SCRIPTS = (".md", ".py", ".txt", ".rst", ".html", ".ipynb", ".R", ".rmd", ".tpl", ".yml", ".yaml")
_OPTION = r"^#SBATCH\s+(?:.*\s)?"
# Names of a site: nodes, features, reservations, licences and clusters.
_OF_A_SITE = re.compile(
    _OPTION + r"(?:--(?:constraint|nodelist|exclude|reservation|licenses|clusters?|nodefile)\b|-[CwxLMF]\s*\S)", re.M
)
_OTHERS = re.compile(r"\b(?:pkill|killall|shutdown|reboot|crontab)\b")
_IN_JOB = re.compile(
    r"\b(?:sbatch|scancel|squeue|sacct|sinfo|salloc|sstat|sbcast|scontrol\s+(?!show\s+hostnames?\b)\w+)\b"
)


@dataclass(frozen=True)
class Candidate:
    """One script of a repository at a commit; `calls`: it calls programs of Slurm inside a job."""

    repository: str
    commit: str
    path: str
    kinds: tuple[str, ...]
    calls: bool
    driver: bool
    """It has no #SBATCH lines and submits others: it runs on the user's machine."""

    @property
    def name(self) -> str:
        """Return its name in results."""
        return f"{self.repository}:{self.path}"


def git_directory(mirrors: Path, repository: str) -> Path:
    """Return the git directory of a fetched repository."""
    place = mirrors / repository.replace("/", "+", 1) / "repo"
    return place / ".git" if (place / ".git").is_dir() else place


def git(directory: Path, *words: str) -> bytes:
    """Return the output of git; empty if it fails."""
    return subprocess.run(["git", "--git-dir", str(directory), *words], capture_output=True, check=False).stdout


def candidates(mirrors: Path) -> list[Candidate]:
    """Return all candidates, ordered by repository and path; copies count once."""
    found: list[Candidate] = []
    texts: set[str] = set()
    for place in sorted(mirrors.glob("*+*/repo")):
        for candidate, text in _of_repository(mirrors, place.parent.name.replace("+", "/", 1)):
            if text not in texts:
                texts.add(text)
                found.append(candidate)
    return found


def _of_repository(mirrors: Path, repository: str) -> Iterator[tuple[Candidate, str]]:
    directory = git_directory(mirrors, repository)
    commit = git(directory, "rev-parse", "HEAD").decode().strip()
    lines = git(directory, "grep", "-lIE", "^#SBATCH|sbatch ", "HEAD").decode().splitlines()
    for path in sorted(line.partition(":")[2] for line in lines):
        if path.endswith(_NOT_SCRIPTS):
            continue
        text = git(directory, "show", f"HEAD:{path}").decode(errors="replace")
        if (found := _candidate(repository, commit, path, text)) is not None:
            yield found, text


def _candidate(repository: str, commit: str, path: str, text: str) -> Candidate | None:
    if not text.startswith("#!") or len(text) > _BYTES_MAX or _OF_A_SITE.search(text) or _OTHERS.search(text):
        return None
    if "sh" not in text.splitlines()[0] or _nodes(text) > _NODES_MAX or _indices(text) > _INDICES_MAX:
        return None
    is_job = re.search(r"^#SBATCH\b", text, re.M) is not None
    body = body_of(text)
    submits = re.search(r"\bsbatch\b", body) is not None
    if not is_job and not submits:
        return None
    kinds = tuple(kind for kind, found in zip((*KINDS, SEVERAL), _kinds(text, body, is_job), strict=True) if found)
    return Candidate(repository, commit, path, kinds, is_job and bool(_IN_JOB.search(body)), not is_job)


def body_of(text: str) -> str:
    """Return a script without comment lines."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def _kinds(text: str, body: str, is_job: bool) -> Iterator[bool]:
    yield is_job and re.search(_OPTION + r"(?:--array\b|-a\s*\S)", text, re.M) is not None
    depends = re.search(r"\bsbatch\b.*(?:\s-d\s*\S|--depend)", body)
    yield bool(depends) or re.search(_OPTION + r"(?:--dependency|-d\s)", text, re.M) is not None
    yield is_job and re.search(r"\bsrun\b", body) is not None
    yield is_job and (re.search(_OPTION + r"--signal", text, re.M) or re.search(r"\btrap\b", body)) is not None
    yield is_job and len(re.findall(r"\bsrun\b", body)) > 1


def _nodes(text: str) -> int:
    found = re.findall(_OPTION + r"(?:--nodes[= ]\s*|-N\s*)(\d+)", text, re.M)
    return max(map(int, found), default=1)


def _indices(text: str) -> int:
    """Return the approximate number of indices in the array of a script."""
    found = re.search(_OPTION + r"(?:--array[= ]\s*|-a\s*)([\d,:-]+)", text, re.M)
    number = 0
    for part in found[1].split(",") if found else ():
        ends = re.fullmatch(r"(\d+)-(\d+)(?::(\d+))?", part)
        number += (int(ends[2]) - int(ends[1])) // int(ends[3] or 1) + 1 if ends else 1
    return number


def draw(all_of_them: Sequence[Candidate], seed: int, number: int) -> list[Candidate]:
    """Return so many candidates in a random order, at least 20 of each kind if there are enough."""
    order = list(all_of_them)
    random.Random(seed).shuffle(order)
    chosen: list[Candidate] = []
    for most in (_OF_ONE_REPOSITORY, 2 * _OF_ONE_REPOSITORY):
        for kind in sorted(KINDS, key=lambda kind: sum(kind in candidate.kinds for candidate in order)):
            _add(chosen, [candidate for candidate in order if kind in candidate.kinds], kind, _EACH, most)
    _add(chosen, order, None, number, _OF_ONE_REPOSITORY)
    random.Random(seed).shuffle(chosen)
    return chosen[:number]


def _add(chosen: list[Candidate], order: Sequence[Candidate], kind: str | None, number: int, most: int) -> None:
    of_repository = Counter(candidate.repository for candidate in chosen)
    for candidate in order:
        have = len(chosen) if kind is None else sum(kind in other.kinds for other in chosen)
        if have >= number:
            return
        if candidate not in chosen and of_repository[candidate.repository] < most:
            of_repository[candidate.repository] += 1
            chosen.append(candidate)
