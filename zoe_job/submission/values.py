"""Values as sbatch writes them: times, sizes, dependencies, counts."""

from __future__ import annotations

import re
import signal

from zoe_job.common.times import seconds

_UNITS_MIB = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_BEGIN = re.compile(r"now(?:\+(\d{1,7})\s*(seconds?|minutes?|hours?|days?|weeks?)?)?", re.IGNORECASE)
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3])(?::[0-5]\d){1,2}")
_DATE = re.compile(r"(\d{2})/(\d{2})/(\d{2})(?:-(\d{2}:\d{2}(?::\d{2})?))?")  # month, day, year
_CLOCKS = {
    "tomorrow": "00:00",
    "midnight": "00:00",
    "noon": "12:00",
    "elevenses": "11:00",
    "fika": "15:00",
    "teatime": "16:00",
}
PRIORITY_MAX = 1000
_BEFORE_MAX_S = 65_535  # as in Slurm
_KINDS = {"afterok": "ok", "afternotok": "fail", "afterany": "any", "aftercorr": "corr"}
_GPUS = re.compile(
    r"(?P<kind>gpu|gres/gpu)?(?:(?:^|:)(?P<model>[A-Za-z][\w.-]*))?(?:(?:^|:)(?P<number>[0-9]{1,5}))?(?:\([\w:,-]*\))?",
    re.ASCII,
)
_MAIL: dict[str, tuple[str, ...]] = {
    "NONE": (),
    "BEGIN": ("started",),
    "END": ("succeeded", "failed", "cancelled"),
    "FAIL": ("failed",),
    "REQUEUE": ("requeued",),
    "INVALID_DEPEND": ("failed",),
    "ARRAY_TASKS": (),
}
_MAIL["ALL"] = tuple(dict.fromkeys(kind for name in ("BEGIN", "END", "REQUEUE") for kind in _MAIL[name]))


class BadValueError(ValueError):
    """A value that Zoe does not understand; the text says why."""


def count(text: str) -> int:
    """Return a number above 0. Raises BadValueError."""
    if not re.fullmatch(r"[0-9]{1,6}", text.strip()) or int(text) == 0:
        raise BadValueError("not a number above 0")
    return int(text)


def node_count(text: str) -> int:
    """Return a number of nodes, the lower end of a range such as 2-4. Raises BadValueError."""
    found = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", text.strip())
    if found is None or int(found[1]) == 0:
        raise BadValueError("not a number above 0")
    if found[2] and int(found[2]) < int(found[1]):
        raise BadValueError("the end of the range is below its beginning")
    return int(found[1])


def time_s(text: str) -> float | None:
    """Return the seconds of a time limit; None for no limit. Raises BadValueError."""
    try:
        return seconds(text)
    except ValueError as error:
        raise BadValueError(str(error)) from None


def size_mib(text: str) -> int:
    """Return MiB, rounded up; without a unit it is MiB, as in Slurm. Raises BadValueError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise BadValueError("not a size; use 4G or 500M")
    return -int(-float(found[1]) * _UNITS_MIB[found[2].upper()] // 1)


def begin(text: str) -> str | None:
    """Return a begin time in the form of `zoe run --begin`; None means at once. Raises BadValueError."""
    text = text.strip()
    if found := _BEGIN.fullmatch(text):
        unit = (found[2] or "s")[0].lower()
        return f"+{found[1]}{unit}" if found[1] and int(found[1]) else None
    if text.lower() == "today":
        return None
    text = _CLOCKS.get(text.lower(), text)
    if _CLOCK.fullmatch(text):
        return text
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?)?", text):
        return text
    if found := _DATE.fullmatch(text):
        return f"20{found[3]}-{found[1]}-{found[2]}" + (f"T{found[4]}" if found[4] else "")
    raise BadValueError("use now+1hour, 16:00 or 2026-11-01T08:30")


def deadline(text: str) -> str:
    """Return a deadline in the form of `zoe run --deadline`. Raises BadValueError, also for the present moment."""
    found = begin(text)
    if found is None:
        raise BadValueError("has passed when it is submitted; use now+1hour, 16:00 or 2026-11-01T08:30")
    return found


def dependencies(text: str) -> tuple[str, ...]:
    """Return dependencies in the form of `zoe run --after`: `afterok:1:2` is ok:1, ok:2. Raises BadValueError."""
    if "?" in text:
        raise BadValueError(
            "`?` (any one of several dependencies) is not supported; submit one job for each dependency"
        )
    found: list[str] = []
    for part in text.split(","):
        kind, *ids = part.strip().split(":")
        if kind.lower() not in _KINDS:
            raise BadValueError(
                f"{kind or 'nothing'} does not exist in Zoe; use afterok, afterany, afternotok or aftercorr"
            )
        if not ids or not all(ids):
            raise BadValueError(f"{kind} needs the id of an execution")
        found += [f"{_KINDS[kind.lower()]}:{id_}" for id_ in ids]
    return tuple(found)


def mail(text: str) -> tuple[str, ...]:
    """Return the kinds of notifications. Raises BadValueError, which names an unsupported kind."""
    words = [word.strip().upper() for word in text.split(",") if word.strip()]
    if wrong := [word for word in words if word not in _MAIL]:
        raise BadValueError(f"notifications of {wrong[0]} are not supported; use {', '.join(_MAIL)}")
    return tuple(dict.fromkeys(kind for word in words for kind in _MAIL[word]))


def gpus(text: str) -> int:
    """Return a number of GPUs: `2`, `a100:2`, `gpu`, `gpu:2`, `gpu:a100`, `gpu:a100:2`. Raises BadValueError."""
    found = _GPUS.fullmatch(text.strip())
    if found is None or not (found["kind"] or found["number"]):
        raise BadValueError("not a number of GPUs; use 2 or a100:2")
    return int(found["number"] or 1)


def gpu_model(text: str) -> str:
    """Return the model in a number of GPUs, or an empty text."""
    found = _GPUS.fullmatch(text.strip())
    return "" if found is None else found["model"] or ""


def generic(text: str) -> int:
    """Return the GPUs of `--gres`. Raises BadValueError, which names any other resource."""
    if text.strip().lower() == "none":
        return 0
    parts = generic_parts(text)
    if others := [part for part in parts if part.partition(":")[0] != "gpu"]:
        raise BadValueError(f"{others[0]} is not a resource here; only gpu is")
    return sum(gpus(part) for part in parts)


def generic_parts(text: str) -> list[str]:
    """Return the resources in a list, each as `gpu:2`."""
    return [part.removeprefix("gres/").removeprefix("gres:").replace("=", ":") for part in text.strip().split(",")]


def warning(text: str) -> tuple[int, float, bool]:
    """Return a signal, the seconds before the time limit, and whether the shell gets it instead of the steps:
    `B:USR1@60`. Raises BadValueError.
    """
    found = re.fullmatch(r"(?:([RB]{1,2}):)?(?:SIG)?([A-Za-z0-9]+)(?:@(\d{1,5}))?", text.strip())
    name = "" if found is None else found[2].upper()
    known = {Signal.name.removeprefix("SIG"): int(Signal) for Signal in signal.Signals}
    number = int(name) if name.isdecimal() else known.get(name, 0)
    if found is None or number not in known.values() or int(found[3] or 0) > _BEFORE_MAX_S:
        raise BadValueError(f"not a signal with at most {_BEFORE_MAX_S} seconds; use USR1@60")
    return number, float(found[3] or 60), "B" in (found[1] or "")


def keep_unsatisfiable(text: str) -> bool:
    """Return whether a job stays that cannot begin any more; the value is `no`. Raises BadValueError."""
    if text.lower() not in ("yes", "no"):
        raise BadValueError("use yes or no")
    return text.lower() == "no"


def appends(text: str) -> bool:
    """Return whether output is appended to files: `append`, `a`, `truncate` or `t`. Raises BadValueError."""
    if text not in ("append", "a", "truncate", "t"):
        raise BadValueError("use append or truncate")
    return text.startswith("a")


def whole_number(text: str) -> int:
    """Return a whole number. Raises BadValueError."""
    if not re.fullmatch(r"[+-]?[0-9]{1,12}", text):
        raise BadValueError("not a number")
    return int(text)


def priority(text: str) -> int:
    """Return a priority. Raises BadValueError."""
    number = whole_number(text)
    if abs(number) > PRIORITY_MAX:
        raise BadValueError(f"priorities are from -{PRIORITY_MAX} to {PRIORITY_MAX}")
    return number


def nice(text: str) -> int:
    """Return the priority of an adjustment, by default 100: the higher it is, the later the job. Raises
    BadValueError.
    """
    number = whole_number(text or "100")
    if abs(number) > PRIORITY_MAX:
        why = f"priorities are from -{PRIORITY_MAX} to {PRIORITY_MAX}"
        raise BadValueError(f"{why}; --nice={PRIORITY_MAX if number > 0 else -PRIORITY_MAX} is the end of them")
    return -number
