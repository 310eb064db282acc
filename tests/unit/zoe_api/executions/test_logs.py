"""Output in pieces: empty before a service has started, and gone once it is removed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import Master, after, caller_of, person, refusal, request, services
from tests.support.scheduling import started
from zoe_api.executions import logs
from zoe_api.http.problems.codes import Code
from zoe_lib.domain.executions import events as ev
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.errors import NotFound

ONE = started(after(execution(1), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)), "n1", "n1", "n1", "n1")
SERVICE = ONE.services[0].id
ENDED = after(ONE, ev.ServiceEnded(at_s=3.0, service_id=SERVICE, cause="exited"))
NONE = MasterRefused("no_logs", "not kept")


def read(one: Any, answer: Any, service: str = SERVICE) -> Any:
    master = Master(logs=answer)
    told = logs.read_logs(ONE.id, service, caller_of(services(one, master=master), person(), request()), 7, 9)
    assert master.asked[0][1:] == ({"service_id": SERVICE, "offset": 7, "limit": 9}, "request-1", "ada")
    return told


def test_a_piece_is_read_from_an_offset() -> None:
    chunk = {"data": "x", "offset": 7, "next_offset": 8, "complete": False, "dropped_bytes": 0}
    assert read(ONE, chunk).next_offset == 8


def test_a_service_that_has_not_started_has_printed_nothing_yet() -> None:
    told = read(ONE, NONE)
    assert (told.data, told.offset, told.next_offset, told.complete) == ("", 7, 7, False)


@pytest.mark.parametrize(
    ("one", "answer", "code"),
    [(ENDED, NONE, Code.NO_LOGS), (ONE, MasterRefused("logs_busy", "busy"), Code.LOGS_BUSY)],
)
def test_other_refusals_are_passed_on(one: Any, answer: Any, code: Code) -> None:
    with refusal(code):
        read(one, answer)


def test_a_service_of_another_execution_has_no_output() -> None:
    with pytest.raises(NotFound):
        read(ONE, NONE, "none")
