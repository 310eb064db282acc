"""A metric's program in a separate process: requests are lines of JSON, and a late, too long or malformed answer ends
it.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from storage_controller.metrics import program as metric_program
from storage_controller.metrics.values import MetricFault
from zoe_lib.clock import SYSTEM_CLOCK, Clock

START_S = 10.0
"""Start time of the interpreter in seconds; a busy machine takes that long."""
ANSWER_S = 3.0
"""Wall time in seconds to load the class, and for one evaluation; the process bounds its CPU time to less. A client
that adds a program waits for 6 s.
"""
ANSWER_BYTES_MAX = 256 * 1024
SOURCE_BYTES_MAX = 64 * 1024
_END_S = 5.0


class MetricProcess:
    """The process of one program. After a MetricFault from any call, the process is gone. Close it."""

    def __init__(
        self, source: str, answer_s: float = ANSWER_S, start_s: float = START_S, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._clock = clock
        self._answer_s = answer_s
        self._rest = b""
        command = [sys.executable, "-I", "-B", str(Path(metric_program.__file__))]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout
        for pipe in (self._questions, self._answers):
            os.set_blocking(pipe.fileno(), False)
        self._ask(source, start_s)
        self._answer(self._clock.monotonic_s() + answer_s, answer_s)

    def evaluate(self, counters: Any) -> Any:
        """Return the program's answer to counters. Raises MetricFault."""
        answer = self._ask(counters, self._answer_s)
        if "value" not in answer:
            raise self._end("the program's answer is not a value")
        return answer["value"]

    def close(self) -> None:
        """Kill the process and its children."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, 9)
        self._process.wait(_END_S)
        for pipe in (self._questions, self._answers):
            _quietly_closed(pipe)

    def _ask(self, question: Any, seconds: float) -> dict[str, Any]:
        until_s = self._clock.monotonic_s() + seconds
        self._write(json.dumps(question).encode() + b"\n", until_s, seconds)
        return self._answer(until_s, seconds)

    def _answer(self, until_s: float, seconds: float) -> dict[str, Any]:
        line = self._read(until_s, seconds)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._end("the program's answer is not JSON")
        if (error := answer.get("error")) is not None:
            raise self._end(str(error)[:400])
        return answer

    def _write(self, data: bytes, until_s: float, seconds: float) -> None:
        left = memoryview(data)
        while left:
            self._wait(until_s, seconds, write=True)
            try:
                left = left[os.write(self._questions.fileno(), left[: select.PIPE_BUF]) :]
            except BrokenPipeError:
                raise self._end(self._end_reason()) from None

    def _read(self, until_s: float, seconds: float) -> bytes:
        found, self._rest = bytearray(self._rest), b""
        while b"\n" not in found:
            self._wait(until_s, seconds, write=False)
            piece = os.read(self._answers.fileno(), 65536)
            if not piece:
                raise self._end(self._end_reason())
            found += piece
            if len(found) > ANSWER_BYTES_MAX:
                raise self._end(f"the program answers more than {ANSWER_BYTES_MAX} bytes")
        line, _, self._rest = bytes(found).partition(b"\n")
        return line

    def _wait(self, until_s: float, seconds: float, write: bool) -> None:
        left_s, ready = until_s - self._clock.monotonic_s(), select.poll()
        ready.register(*((self._questions, select.POLLOUT) if write else (self._answers, select.POLLIN)))
        if left_s <= 0 or not ready.poll(left_s * 1000):
            raise self._end(f"the program did not answer within {seconds:g} s")

    def _end_reason(self) -> str:
        """Return the reason of its end."""
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return "the program closed its output"
        limits = f"{metric_program.CPU_S} s of CPU and {metric_program.MEMORY_BYTES_MAX >> 20} MiB"
        return f"the program ended with {code}; an evaluation has {limits}"

    def _end(self, sentence: str) -> MetricFault:
        self.close()
        return MetricFault(sentence)


def check_source(source: str) -> None:
    """Start a program and end it. Raises MetricFault if it fails."""
    if len(source.encode()) > SOURCE_BYTES_MAX:
        raise MetricFault(f"the program is longer than {SOURCE_BYTES_MAX} bytes")
    MetricProcess(source).close()


def _quietly_closed(pipe: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        pipe.close()
