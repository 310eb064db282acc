"""Measure the effect on another user of a job that floods the API with its token, and the answers to its requests."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil

from benchmarks.support import machine, percentile, temporary_home
from zoe_client import Client
from zoe_embedded.stack import LOGS, Stack
from zoe_lib.store.people import Token, User
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.tokens.api_tokens import FIRST_TENANT, TokenText

FLOODER = "eve"
_PAUSE_S = 0.25
_SCRIPT = "#!/bin/sh\n#SBATCH --mem=512M\ncat > flooding.py <<'END_OF_PROGRAM'\n{program}\nEND_OF_PROGRAM\n{call}\n"
_DESCRIPTION = {
    "version": 4,
    "name": "short",
    "components": [
        {
            "name": "main",
            "image": "zoe/python",
            "command": ["true"],
            "resources": {"memory": "64MiB", "cores": 0.1},
            "ends_application": True,
        }
    ],
}


def main() -> int:
    """Measure, and print; return 1 if another user's execution was changed or lost."""
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--seconds", type=float, default=30.0)
    wanted.add_argument("--processes", type=int, default=2)
    wanted.add_argument("--connections", type=int, default=16, help="of all processes")
    wanted.add_argument("--at-once", type=int, default=5, help="requests in a row on each connection")
    given = wanted.parse_args()
    print(machine())
    with temporary_home() as home, Stack(home, spark=False) as stack, Client(stack.url, stack.token) as client:
        watched = client.submit({**_DESCRIPTION, "name": "watched"}, hold=True).id
        tell("quiet", list(work(client, given.seconds / 2)))
        logs = {name: len((home.logs / name).read_bytes().splitlines()) for name in LOGS.values()}
        job = begin(
            stack, [given.seconds, given.processes, given.connections // given.processes, given.at_once, watched]
        )
        while client.execution(job).state.value != "running":
            time.sleep(0.1)
        api = psutil.Process(stack.processes["zoe_api.main"])
        before_s = cpu_s(api)
        tell("beside the flood", list(work(client, given.seconds - 2)))
        print(f"CPU seconds of the API: {cpu_s(api) - before_s:.1f}")
        client.wait(job)
        return judge(stack, client, job, watched, logs)


def cpu_s(process: psutil.Process) -> float:
    """Return the CPU seconds that a process has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def begin(stack: Stack, arguments: list[object]) -> str:
    """Submit the job that floods as another user, with arguments of its program; return its id."""
    text = TokenText.new()
    with closing(PostgresStore(stack.database_url)) as store:
        accounts = store.accounts
        accounts.add_user(User(FLOODER))
        accounts.ensure_member(FLOODER, FIRST_TENANT, "user")
        scopes = frozenset({"read", "submit"})
        accounts.add_token(Token(text.id, FLOODER, FIRST_TENANT, text.secret_hash, scopes, time.time(), None, "flood"))
    program = Path(__file__).with_name("flooding.py").read_text()
    script = _SCRIPT.format(program=program, call=f"exec python3 flooding.py {' '.join(map(str, arguments))}")
    variables = {**os.environ, "ZOE_URL": stack.url, "ZOE_TOKEN": str(text)}
    command = [sys.executable, "-m", "zoe_cli.main", "sbatch", "--parsable"]
    done = subprocess.run(command, input=script, text=True, env=variables, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.strip()


def work(client: Client, lasts_s: float) -> Iterator[tuple[float, float, bool]]:
    """Submit short executions one after another; yield the time to the answer, the time to the end, and the success."""
    until_s = time.monotonic() + lasts_s
    while time.monotonic() < until_s:
        begun_s = time.monotonic()
        made = client.submit(_DESCRIPTION).id
        answered_s = time.monotonic()
        ended = client.wait(made)
        yield answered_s - begun_s, time.monotonic() - begun_s, ended.state.value == "succeeded"
        time.sleep(_PAUSE_S)


def tell(title: str, found: list[tuple[float, float, bool]]) -> None:
    """Print the delays of another user's executions."""
    print(f"{title}: {len(found)} executions, {sum(good for *_, good in found)} succeeded")
    for name, values in (("answer", [item[0] for item in found]), ("end", [item[1] for item in found])):
        middle, late = percentile(values, 0.5), percentile(values, 0.99)
        print(f"  {name} after s: p50 {middle:.3f}, p99 {late:.3f}, most {max(values):.3f}")


def judge(stack: Stack, client: Client, job: str, watched: str, logs: dict[str, int]) -> int:
    """Print the answers, and the flood's lines in logs; return 1 if it changed anything of the other user."""
    service = client.execution(job).services[0].id
    output = b"".join(client.follow_logs(job, service)).splitlines()
    counts = json.loads(output[-1])
    print("answers:", ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    for name, before in logs.items():
        print(f"  {name}: {len((stack.home.logs / name).read_bytes().splitlines()) - before} more lines")
    state = client.execution(watched).state.value
    print(f"watched execution of the other user: {state}")
    return 0 if state == "submitted" and not stack.dead_process() else 1


if __name__ == "__main__":
    raise SystemExit(main())
