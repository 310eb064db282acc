"""Ask a store once more that was looking at a file while it was replaced.

An object server lists a directory, and then opens what it found. If an object is stored again between the two, by a
client or by a job that applies rules, the server answers 503. With several replicas the proxy asks another one; with a
single one clients would be told so of an object that nobody deleted.
"""

from __future__ import annotations

from typing import Any

from eventlet import sleep
from swift.common.swob import Request, Response
from swift.common.utils import close_if_possible

WITHOUT_BODY = ("GET", "HEAD", "POST", "DELETE")
_UNAVAILABLE = 503
_PAUSE_S = 0.05


def answer_of(request: Request, app: Any) -> Response:
    """Return the answer to a request without a body, to the second try if the first one was 503. A store that is away
    is asked twice instead of once.
    """
    before = request.environ.copy()
    answer = request.get_response(app)
    if answer.status_int != _UNAVAILABLE:
        return answer
    close_if_possible(answer.app_iter)
    sleep(_PAUSE_S)
    request.environ.update(before)
    return request.get_response(app)
