"""Runs a metric's program in a separate process, started by `metrics/process.py`. Standard library only.

The first line of standard input is its source, as JSON; two lines answer it: one at the start, and one when the class
is instantiated. Each further line has the counters of the last seconds, and one line answers it. Output of the program
is discarded. The bounds protect the machine from mistakes of an admin; they do not stop an attacker.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

MEMORY_BYTES_MAX = 256 * 2**20
CPU_S = 2
"""CPU time of one evaluation."""
_NOBODY = 65534
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_SENTENCE_MAX = 300


def main() -> None:
    """Serve until standard input ends."""
    questions, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    with open(os.devnull, "r+") as nothing:  # noqa: PTH123 - pathlib is not loaded in each of these processes
        for descriptor in (0, 1, 2):
            os.dup2(nothing.fileno(), descriptor)
    source = json.loads(questions.readline())
    _bound()
    answers.write('{"begun": true}\n')  # from here on, time counts for the program
    answers.flush()
    evaluate = _reporting_errors(answers, lambda: _load(source))
    if not callable(evaluate):
        return
    answers.write('{"ready": true}\n')
    answers.flush()
    for question in questions:
        _more_time()
        asked = json.loads(question)
        value = _reporting_errors(answers, lambda asked=asked: evaluate(asked))  # type: ignore[misc]
        if isinstance(value, _ReportedError):
            return
        _reporting_errors(answers, lambda value=value: _say(answers, value))  # type: ignore[misc]


class _ReportedError:
    """Stands for an error that was reported."""


def _bound() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    _more_time()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))  # root would not be bound by it
    # A sleeping program would outlive a killed controller. A change of user clears the signal, so it is set afterwards.
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _more_time() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + 1 + CPU_S
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def _load(source: str) -> Callable[[dict[str, Any]], Any]:
    names: dict[str, Any] = {"__name__": "metric"}
    exec(compile(source, "metric", "exec"), names)  # noqa: S102 - this is what the process is for
    made = names.get("Metric")
    if not isinstance(made, type):
        raise TypeError("the program defines no class Metric")
    evaluate: Any = getattr(made(), "evaluate", None)
    if not callable(evaluate):
        raise TypeError("the class Metric has no method evaluate")
    return evaluate  # type: ignore[no-any-return]


def _say(answers: Any, value: Any) -> None:
    answers.write(json.dumps({"value": value}) + "\n")
    answers.flush()


def _reporting_errors(answers: Any, work: Callable[[], Any]) -> Any:
    """Return the result of the work; report any error."""
    try:
        return work()
    except BaseException as error:  # also exceptions that end programs
        line = error.__traceback__
        number = 0
        while line is not None:
            number = line.tb_lineno if line.tb_frame.f_code.co_filename == "metric" else number
            line = line.tb_next
        if isinstance(error, SyntaxError):
            number = error.lineno or 0
        where = f" (line {number})" if number else ""
        _say_error(answers, f"{type(error).__name__}: {error}"[:_SENTENCE_MAX] + where)
        return _ReportedError()


def _say_error(answers: Any, sentence: str) -> None:
    answers.write(json.dumps({"error": sentence}) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
