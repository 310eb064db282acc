"""Find the environment variables that a script reads: sbatch exports all, Zoe only these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from zoe_job.commands.exported import MAY_BE_SECRET

VARIABLES_MAX, VALUE_LENGTH_MAX = 50, 4096
"""Limits on the variables copied from the submitter's environment."""
_READ = re.compile(r"(?<!\\)\$(?:\{[#!]?)?([A-Za-z_]\w*)")
_SET = re.compile(
    r"(?:^|[;&|(\s])(?:export\s+|local\s+|declare\s+(?:-\w+\s+)*|readonly\s+)?([A-Za-z_]\w*)\+?=|"
    r"\b(?:for|select)\s+([A-Za-z_]\w*)\s+in\b|\bread\s+(?:-\w+\s+)*([A-Za-z_][\w ]*)",
    re.M,
)
_COMMENT = re.compile(r"(?m)^\s*#.*$")
# They describe the machine on which they are set.
_OF_MACHINE = re.compile(
    r"(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|TERM|LANG|HOSTNAME|HOST|TMPDIR|TMP|DISPLAY|MAIL|EDITOR|UID|EUID|PS\d|"
    r"IFS|RANDOM|SECONDS|LINENO|PPID|VIRTUAL_ENV|LD_\w+|PYTHON\w+|(?:LC|SSH|XDG|SLURM|SBATCH|SRUN|ZOE|BASH|CONDA|DBUS)_?\w*)"
)


@dataclass(frozen=True, slots=True)
class ExportedVariables:
    """Exported values, and names of variables left out as possible secrets or as too long."""

    values: dict[str, str] = field(default_factory=dict)
    left: tuple[str, ...] = ()


def variables_read_by(script: str, environment: Mapping[str, str]) -> ExportedVariables:
    """Return the variables that a script reads and does not set itself."""
    text = _COMMENT.sub("", script)
    sets = {name for found in _SET.findall(text) for part in found for name in part.split()}
    names = [
        name
        for name in dict.fromkeys(_READ.findall(text))
        if name in environment and name not in sets and not _OF_MACHINE.fullmatch(name)
    ]
    values: dict[str, str] = {}
    for name in names:
        if (
            len(values) < VARIABLES_MAX
            and len(environment[name]) <= VALUE_LENGTH_MAX
            and not MAY_BE_SECRET.search(name)
        ):
            values[name] = environment[name]
    return ExportedVariables(values, tuple(name for name in names if name not in values))
