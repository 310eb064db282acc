"""Exchanges recorded at Crystal's controller, sent again to zoe-storage, and the differences of its answers.

    python -m benchmarks.storage.crystal_exchanges $ZOE_TEST_DATA/crystal/later.jsonl
    python -m benchmarks.storage.crystal_exchanges FILE ... --url http://127.0.0.1:5560 --token-file FILE

Each file is sent in its order, since exchanges build on earlier ones, to an empty controller with a database of its
own, or to the one at --url. An exchange agrees if the status does. Statuses from 500 on are defects of Crystal: any
other status agrees with them. Bodies are compared by their shape: keys and types.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from storage_bridge.model import BandwidthSlo
from storage_controller.dialects import SpokenDialect
from tests.support.postgres import PostgresServer, make_home
from tests.support.storage_controller import PATIENCE_S, TOKEN, served_controller

ADMIN_TOKEN = "admin-token"
CAPACITY = BandwidthSlo(4 * 10**9, 4 * 10**9)
"""Of the store: the recordings guarantee up to 3,000 MB/s, and Crystal asks no store whether it can."""
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What the controller answered to a recorded request, beside the recorded answer. body: None if it is not JSON."""

    name: str
    request: str
    group: str
    recorded: int
    status: int
    same_shape: bool
    text: str

    @property
    def agrees(self) -> bool:
        """Return whether the status is the recorded one, or recorded as a defect and none here."""
        return self.status < 500 if self.recorded >= 500 else self.status == self.recorded

    def __str__(self) -> str:
        return f"{self.name}: {self.request} -> {self.status}, recorded {self.recorded}: {self.text}"


def read_exchanges(file: Path) -> list[dict[str, Any]]:
    """Return the exchanges of a recording, in their order."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def replay(exchanges: Sequence[dict[str, Any]], url: str, token: str) -> Iterator[Answer]:
    """Send the requests one after the other, and yield the answers."""
    with httpx.Client(base_url=url, timeout=PATIENCE_S, headers={"User-Agent": "exchanges"}) as http:
        for exchange in exchanges:
            request, recorded = exchange["request"], exchange["response"]
            got = http.request(request["method"], request["path"], **_arguments(request, token))
            yield Answer(
                exchange["name"],
                f"{request['method']} {request['path']}",
                _group(request["path"]),
                recorded["status"],
                got.status_code,
                shape(_json(got)) == shape(recorded["body"]),
                got.text[:_SHOWN_CHARACTERS],
            )


def shape(body: Any) -> Any:
    """Return keys and types of a document; of a list, those of its first element."""
    if isinstance(body, dict):
        return {name: shape(value) for name, value in body.items()}
    if isinstance(body, list):
        return [shape(entry) for entry in body[:1]]
    return type(body).__name__


def _arguments(request: dict[str, Any], token: str) -> dict[str, Any]:
    given, body, kind = request["token"], request["body"], request["content_type"]
    headers = {} if given is None else {"X-Auth-Token": token if given == ADMIN_TOKEN else given}
    if kind == "multipart/form-data":
        files = {name: (file["filename"], file["content"].encode()) for name, file in (body.get("files") or {}).items()}
        return {"headers": headers, "files": files, "data": body.get("form") or {}}
    if kind:
        headers["Content-Type"] = kind
    if body is None:
        return {"headers": headers}
    content = body if isinstance(body, str) else json.dumps(body)
    return {"headers": headers, "content": content.encode()}


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _group(path: str) -> str:
    """Return the noun of a path: `/filters`, `/policies/static`."""
    first, _, rest = path.strip("/").partition("/")
    return f"/{first}" if first in ("filters", "projects", "metrics", "controllers") else f"/{first}/{_head(rest)}"


def _head(path: str) -> str:
    return path.partition("/")[0]


@contextmanager
def empty_controllers(dialect: SpokenDialect) -> Iterator[Iterator[str]]:
    """Yield an endless row of URLs, each of a controller with an empty database."""
    home = make_home()
    server = PostgresServer(home)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        stack.callback(server.stop)
        server.start()

        def urls() -> Iterator[str]:
            while True:
                database_url = server.create_database()
                yield stack.enter_context(served_controller(database_url, dialect=dialect, capacity=CAPACITY)).url

        yield urls()


def show(file: Path, answers: Sequence[Answer]) -> None:
    """Print the agreements by group, and each difference."""
    agreed = Counter(answer.group for answer in answers if answer.agrees)
    print(f"{file.name}: {agreed.total()} of {len(answers)} agree in status")
    for group, total in sorted(Counter(answer.group for answer in answers).items()):
        shapes = sum(answer.same_shape for answer in answers if answer.group == group)
        print(f"  {group:<28} {agreed[group]:>3} of {total:>3}, bodies of the same shape: {shapes}")
    for answer in answers:
        if not answer.agrees:
            print(f"  - {answer}")


def main() -> None:
    """Send recordings again and print the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--url", help="of a running controller [one that is started with an empty database]")
    parser.add_argument("--token-file", type=Path, help="its token [the one in ZOE_SDS_TOKEN]")
    parser.add_argument("--dialect", type=SpokenDialect, default=SpokenDialect.BOTH, help="[both]")
    arguments = parser.parse_args()
    if arguments.url:
        token = arguments.token_file.read_text().strip() if arguments.token_file else os.environ["ZOE_SDS_TOKEN"]
        for file in arguments.files:
            show(file, list(replay(read_exchanges(file), arguments.url, token)))
        return
    with empty_controllers(arguments.dialect) as urls:
        for file in arguments.files:
            show(file, list(replay(read_exchanges(file), next(urls), TOKEN)))


if __name__ == "__main__":
    main()
