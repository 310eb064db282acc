"""Retry reads that failed because the object's file was replaced meanwhile.

An object server lists a directory, and then opens the file that it found. If a client, or a job that applies rules,
stores the object again between the two, the server answers 503. With several replicas the proxy asks another one; with
a single one, clients would get the error for an object that exists. While fragments are replaced one after the other,
the proxy may also find too few of a kind, and answers 500.
"""

from __future__ import annotations

import time
from typing import Any

from eventlet import sleep
from swift.common.swob import Request, Response
from swift.common.utils import close_if_possible

WITHOUT_BODY = ("GET", "HEAD", "POST", "DELETE")
_FOR_A_MOMENT = (500, 503)
_PAUSES_S = (0.05, 0.15)
_SOON_S = 1.0
"""A slower error means that the store is away, so it is not retried."""


def answer_of(request: Request, app: Any) -> Response:
    """Return the answer to a request without a body, after up to three attempts if the store fails quickly."""
    before, began_s = request.environ.copy(), time.monotonic()
    for pause_s in _PAUSES_S:
        answer = request.get_response(app)
        if answer.status_int not in _FOR_A_MOMENT or time.monotonic() - began_s > _SOON_S:
            return answer
        close_if_possible(answer.app_iter)
        sleep(pause_s)
        request.environ.update(before)
    return request.get_response(app)
