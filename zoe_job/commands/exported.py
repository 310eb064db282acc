"""Variables that a script has set, for the jobs that it submits, as with Slurm's `--export=ALL`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from zoe_job.common.channel import ChannelError, connect
from zoe_job.common.slurm_options import BadOptionError

_NEVER = frozenset(("HOME", "HOSTNAME", "LOGNAME", "OLDPWD", "PWD", "SHLVL", "TMPDIR", "USER", "_"))
_NEVER_FROM = ("BASH_FUNC_", "SLURM_", "SLURMD_", "ZOE_")
_BYTES_MAX = 64 << 10
MAY_BE_SECRET = re.compile(r"TOKEN|SECRET|PASSW|API_?KEY|CREDENTIAL|PRIVATE", re.IGNORECASE)
"""Names of variables whose values go into a description, which others may see, only if they are requested by name."""


def changed_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that differ from those at the start of the script. Raises BadOptionError if they are too
    long.
    """
    begun = _initial_variables(environment)
    programs = f"{Path(__file__).resolve().parents[2] / 'bin'}{os.pathsep}"
    found = {
        name: text.replace(programs, "")
        for name, text in environment.items()
        if name not in _NEVER and not name.startswith(_NEVER_FROM) and name.isidentifier() and begun.get(name) != text
    }
    for name in [name for name in found if MAY_BE_SECRET.search(name)]:
        del found[name]
        text = f"sbatch: {name} stays, since a description may be seen by others; --export=ALL,{name} takes it along"
        print(text, file=sys.stderr)
    if sum(len(name) + len(text) for name, text in found.items()) > _BYTES_MAX:
        raise BadOptionError("the variables that the script set have more than 64 KiB; name some with --export")
    if any("\0" in text or not _is_text(text) for text in found.values()):
        raise BadOptionError("a variable that the script set is not UTF-8 text; name others with --export")
    return found


def _initial_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables at the start of the script, from the first node."""
    try:
        channel = connect(environment["ZOE_SRUN"])
        channel.send(b"e")
        frame = channel.receive()
        channel.close()
    except (ChannelError, KeyError) as error:
        raise BadOptionError(f"the variables of the job cannot be read: {error}; use --export=NONE") from None
    return {} if frame is None else dict(json.loads(frame[1]))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
