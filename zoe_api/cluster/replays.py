"""Run a replay as a child process with limits on memory, CPU time and time, and a read-only database connection."""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.questions.children import TooLong, run
from zoe_client.wire import ReplayRequest
from zoe_lib.settings.config import Settings

_REFUSED, _OUT_OF_MEMORY = 3, 4
_SHORTER = "replay a shorter period"
# One at a time in a process: each may take all the allowed memory.
one_at_a_time = threading.Lock()


def replay(settings: Settings, wanted: ReplayRequest, to_s: float) -> dict[str, Any]:
    """Return the answer of `zoe-sim replay`, with the picture as base64; a problem if it fails."""
    if not one_at_a_time.acquire(blocking=False):
        raise ApiProblem(Code.REPLAY_BUSY)
    try:
        with tempfile.TemporaryDirectory(prefix="zoe-replay-") as directory:
            picture = Path(directory) / f"picture.{wanted.picture}" if wanted.picture is not None else None
            answer = _answer(settings, _command(settings, wanted, to_s, picture), Path(directory))
            if picture is not None:
                answer["picture"] = base64.b64encode(picture.read_bytes()).decode()
            return answer
    finally:
        one_at_a_time.release()


def _command(settings: Settings, question: ReplayRequest, to_s: float, picture: Path | None) -> list[str]:
    command = [sys.executable, "-m", "zoe_simulator", "replay"]
    command += [f"--from-s={question.from_s!r}", f"--to-s={to_s!r}"]
    command += [f"--memory-bytes-max={settings.replay_memory_bytes_max}", f"--cpu-s-max={settings.replay_cpu_s_max}"]
    command += [f"--add-node={name}" for name in question.add_nodes]
    if question.policy:
        command.append(f"--policy={json.dumps(question.policy)}")
    if picture is not None:
        command.append(f"--picture={picture}")
    return command


def _answer(settings: Settings, command: list[str], directory: Path) -> dict[str, Any]:
    more = {
        "MPLCONFIGDIR": str(directory),
        # Threads of numpy reserve address space that the memory limit counts.
        "OPENBLAS_NUM_THREADS": "1",
        "ZOE_DATABASE_URL": settings.database_url.get_secret_value(),
    }
    try:
        done = run(command, directory, settings.replay_s_max, more)
    except TooLong as error:
        raise ApiProblem(Code.REPLAY_TOO_LONG, str(error), _SHORTER) from None
    words = done.stderr.decode(errors="replace").strip().splitlines()
    last = words[-1][:500] if words else f"it exited with {done.returncode}"
    if done.returncode == _REFUSED:
        raise ApiProblem(Code.REPLAY_REFUSED, last)
    if done.returncode == _OUT_OF_MEMORY or done.returncode < 0:
        raise ApiProblem(Code.REPLAY_TOO_LONG, last if done.returncode > 0 else "it used up its CPU time", _SHORTER)
    if done.returncode != 0:
        raise ApiProblem(Code.REPLAY_FAILED, last)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
