"""Options of squeue, scancel, sacct and sattach: names in Slurm, and the ones that a job of Zoe lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zoe_job.common.slurm_options import Given, read

_PARTITION = "zoe"
"""There are no partitions; this is the value in the variables of a job."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of a program, as in `common/slurm_options.py`, and the missing ones that would choose or print other
    things.
    """

    all: Mapping[str, tuple[str, str]]
    lacking: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, lacking: str) -> CallOptions:
        """Return the options in a text of pairs: a name, and its letter with `=`, `.` or `?`."""
        words = text.split()
        pairs = zip(words[::2], words[1::2], strict=True)
        return cls({name: (mark[:-1], mark[-1]) for name, mark in pairs}, tuple(lacking.split()))

    def missing_option(self, given: Sequence[Given]) -> str | None:
        """Return a given option that does not exist in a job of Zoe; None if all do."""
        found = (entry for entry in given if entry.name in self.lacking)
        return next((given.name for given in found if (given.name, given.value) != ("partition", _PARTITION)), None)


SQUEUE = CallOptions.parse(
    """
    account A= all a. array r. array-unique . clusters M= format o= Format O= help . hide . iterate i= job j? jobs j?
    json . local . licenses L= long l. me . name n= noconvert . node w= nodelist w= noheader h. only-job-state .
    partition p= priority P. qos q= reservation R= sibling . sort S= start . state t= states t= step s? steps s?
    usage . user u= users u= verbose v. version V. yaml .
    """,
    "account clusters help iterate json licenses node nodelist partition qos reservation sort start step steps usage "
    "version yaml",
)
SCANCEL = CallOptions.parse(
    """
    account A= batch b. clusters M= ctld . cron . full f. help . hurry H. interactive i. jobname n= name n= nodelist w=
    partition p= qos q= quiet Q. reservation R= sibling . signal s= state t= user u= me . verbose v. version V. wckey =
    """,
    "account batch clusters cron full help interactive nodelist partition qos reservation version wckey",
)
SACCT = CallOptions.parse(
    """
    accounts A= allclusters L. allocations X. allusers a. brief b. completion c. delimiter = duplicates D. endtime E=
    format o= fields o= group g= help h. helpformat e. jobs j= job j= long l. name = noconvert . nodelist N= noheader n.
    parsable p. parsable2 P. partition r= qos q= starttime S= state s= truncate T. uid u= user u= units = verbose v.
    version V. wckeys W= json . yaml .
    """,
    "accounts completion duplicates endtime group help helpformat json long nodelist partition qos starttime truncate "
    "version wckeys yaml",
)
SATTACH = CallOptions.parse(
    "error-filter = input-filter = label l. layout . output-filter = pty . quiet Q. verbose v. version V.",
    "error-filter input-filter layout output-filter pty version",
)
UPDATED = ("timelimit", "priority", "nice")
"""Fields that `scontrol update` changes."""
_OF = {"squeue": SQUEUE, "scancel": SCANCEL, "sacct": SACCT, "sattach": SATTACH}


def missing_update(words: Sequence[str]) -> str | None:
    """Return the first `Name=Value` that `scontrol update` of a job cannot change; None if it can change all."""
    names = (word.partition("=")[0].lower() for word in words if "=" in word and not word.startswith("$"))
    return next((name for name in names if name not in (*UPDATED, "jobid", "job")), None)


def missing_option(program: str, words: Sequence[str]) -> str | None:
    """Return why a call of a program with these words cannot have the effect that its script expects. Raises
    BadOptionError.

    Words with a `$`, which are not known yet, are ignored.
    """
    if (options := _OF.get(program)) is None:
        return None
    rest = list(words)
    while rest:
        given, rest, unknown = read(rest, dict(options.all))
        if (name := options.missing_option(given)) is not None:
            return f"{program} --{name} does not exist in a job of Zoe"
        if unknown:
            return f"{program} has no option {unknown[0]}"
        rest = rest[1:]  # an id, which scancel accepts between options
    return None
