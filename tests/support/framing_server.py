"""A server as Swift's proxy runs it, with a filter and an application that reads bodies, in Swift's environment.

`python tests/support/framing_server.py plain|raw|bare`: by Swift's protocol with the filter, by ours with it, or by
Swift's without. Prints its port, then the path of each request that reaches the application.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import eventlet

eventlet.monkey_patch()

from eventlet import wsgi  # noqa: E402
from swift.common.http_protocol import SwiftHttpProtocol  # noqa: E402
from swift.common.swob import HTTPException  # noqa: E402

from storage_filters.strict_requests import StrictRequests  # noqa: E402
from storage_gateway.raw_heads import RawHeads  # noqa: E402


def application(env: dict[str, Any], start_response: Any) -> list[bytes]:
    try:
        env["wsgi.input"].read()
        status = "201 Created"
    except (ValueError, HTTPException):
        status = "499 Client Disconnect"  # as Swift's proxy
    print(env["PATH_INFO"], flush=True)
    start_response(status, [("Content-Length", "0")])
    return [b""]


def main(kind: str) -> None:
    line = eventlet.listen(("127.0.0.1", 0))
    print(line.getsockname()[1], flush=True)
    served: Any = application if kind == "bare" else StrictRequests(application, {})
    with Path("/dev/null").open("w") as nowhere:
        wsgi.server(line, served, nowhere, protocol=RawHeads if kind == "raw" else SwiftHttpProtocol)


main(sys.argv[1])
