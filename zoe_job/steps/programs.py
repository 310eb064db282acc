"""The file of `srun --multi-prog`: the program of each task. Source: the manual of srun 22.05."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from zoe_job.common.slurm_options import BadOptionError

_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_BYTES_MAX = 1 << 20


def programs_of(name: str, ntasks: int) -> dict[str, list[str]]:
    """Return rank -> program and arguments, for each task. Raises BadOptionError.

    `*` stands for all tasks that no earlier line names. In arguments, `%t` is the rank, and `%o` its position among
    those of the line. Ranks beyond the tasks of the step are ignored, as in Slurm.
    """
    try:
        with Path(name).open(encoding="utf-8") as file:
            lines = file.read(_BYTES_MAX).replace("\\\n", " ").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOptionError(f"cannot open the file of --multi-prog, {name}: {error}") from None
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        try:
            ranks, *words = shlex.split(line, comments=True) or [""]
        except ValueError as error:
            raise BadOptionError(f"{name}, line {number}: {error}") from None
        if not ranks:
            continue
        if not words:
            raise BadOptionError(f"{name}, line {number}: no program is given")
        left = [rank for rank in range(ntasks) if str(rank) not in found]
        for place, rank in enumerate(left if ranks == "*" else _ranks(ranks, ntasks, f"{name}, line {number}")):
            if str(rank) in found:
                raise BadOptionError(f"{name}, line {number}: task {rank} has a program already")
            if rank < ntasks:
                found[str(rank)] = [word.replace("%t", str(rank)).replace("%o", str(place)) for word in words]
    if missing := next((rank for rank in range(ntasks) if str(rank) not in found), None):
        raise BadOptionError(f"{name}: no line names a program for task {missing}")
    return found


def _ranks(text: str, ntasks: int, where: str) -> list[int]:
    ranks: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise BadOptionError(f"{where}: {part[:40]} is not a rank")
        first, last = int(match[1]), int(match[2] or match[1])
        ranks += range(first, min(last, max(first, ntasks)) + 1)
    return ranks
