"""A server that answers `/api/v1/query` as Prometheus does, for expressions that a test gives values."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs


@dataclass
class Expressions:
    """answers: values by tenant and container. away: it answers 503 without JSON. slow_s: before each answer."""

    url: str = ""
    answers: dict[str, Mapping[tuple[str, str], float]] = field(default_factory=dict)
    away: bool = False
    slow_s: float = 0.0
    asked: list[str] = field(default_factory=list)

    def answer(self, expression: str) -> tuple[int, Any]:
        self.asked.append(expression)
        if expression.count("(") != expression.count(")"):
            return 400, {"status": "error", "errorType": "bad_data", "error": "parse error: unclosed left parenthesis"}
        result = [
            {
                "metric": {name: text for name, text in zip(("tenant", "container"), place, strict=True) if text},
                "value": [time.time(), str(value)],
            }
            for place, value in self.answers.get(expression, {}).items()
        ]
        return 200, {"status": "success", "data": {"resultType": "vector", "result": result}}


@contextmanager
def prometheus() -> Iterator[Expressions]:
    found = Expressions()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            assert self.path == "/api/v1/query"
            status, document = found.answer(form["query"][0])
            time.sleep(found.slow_s)
            body = b"away" if found.away else json.dumps(document).encode()
            self.send_response(503 if found.away else status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
