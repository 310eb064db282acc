"""Client of the storage controller: rules, filters, SLOs, metrics, nodes and history of the object store.

A request has a method and a path below `/v1`, with models of `zoe_client/wire`. The controller's routes
(`storage_controller/routes`) take and return the same models.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Annotated, Any, TypeVar, cast
from urllib.parse import urlencode

import structlog
from fastapi import Depends, Request
from pydantic import BaseModel, TypeAdapter, ValidationError

from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.model import StorageRefusedError, StorageUnavailableError
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_client.words.plain_errors import sentences
from zoe_lib.messaging.refusal import Refusal
from zoe_lib.messaging.slow_lane import Bounds, Places
from zoe_lib.settings.storage import StorageSettings

log = structlog.get_logger(__name__)
T = TypeVar("T")
COMPILES_S = 20.0
"""Time limit of a request for which the controller compiles a module or starts a program."""
_HINT = "give zoe-api the token of the storage controller: storage_token_file (ZOE_STORAGE_TOKEN_FILE)"
_UNAUTHORIZED = 401
_SENTENCES_MAX = 3


@dataclass(frozen=True, slots=True)
class Lane:
    """Maximum requests of a kind that an API process accepts, and that it sends to the controller at once."""

    kind: str
    at_once_max: int
    bounds: Bounds


QUESTIONS = Lane("storage_rules", 6, Bounds(16, 4, Code.STORAGE_RULES_UNAVAILABLE))
# The controller compiles uploads, which takes seconds. They have a separate lane, so that they delay nothing else.
UPLOADS = Lane("storage_uploads", 3, Bounds(8, 1, Code.STORAGE_RULES_UNAVAILABLE))


class StorageController:
    """The storage controller, for an API process. Thread-safe.

    Requests are never repeated: otherwise a lost response could add a rule twice.
    """

    def __init__(self, settings: StorageSettings) -> None:
        self._settings = settings
        self._places = Places()
        self._turns = {lane: threading.BoundedSemaphore(lane.at_once_max) for lane in (QUESTIONS, UPLOADS)}
        self._making = threading.Lock()
        self._made: tuple[ControllerHttp, ControllerHttp] | None = None

    def check(self) -> None:
        """Log a warning if a controller is configured and its token cannot be read."""
        if self._settings.storage_url is not None:
            try:
                self._lines()
            except ApiProblem as refused:
                log.warning("cannot ask the storage controller", why=refused.problem.detail, hint=_HINT)

    @contextmanager
    def line(self, lane: Lane, asker: str, compiles: bool) -> Iterator[ControllerHttp]:
        """Hold a place of the lane, and wait for a turn; ApiProblem without a place or a controller.

        Every request has a time limit, so a turn comes.
        """
        quick, patient = self._lines()
        try:
            self._places.take(lane.kind, asker, lane.bounds)
        except Refusal as refused:
            raise ApiProblem(Code(refused.code), str(refused)) from None
        with self._places.release_after(lane.kind, asker), self._turns[lane]:
            yield patient if compiles else quick

    def _lines(self) -> tuple[ControllerHttp, ControllerHttp]:
        """Return the connections for quick requests, and for those that compile."""
        with self._making:
            if self._made is None:
                once = replace(self._read_settings(), attempts=1)
                self._made = ControllerHttp(once), ControllerHttp(replace(once, timeout_s=COMPILES_S))
            return self._made

    def _read_settings(self) -> ControllerSettings:
        try:
            found = ControllerSettings.from_settings(self._settings)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or (error if type(error) is ValueError else "it is no text")
            sentence = f"the API cannot read the token of the storage controller (setting storage_token_file): {why}"
            raise ApiProblem(Code.STORAGE_RULES_UNAVAILABLE, sentence, _HINT) from None
        if found is None:
            raise ApiProblem(
                Code.STORAGE_RULE_REFUSED,
                "there is no storage controller, so rules and requests of the object store are unknown: "
                "storage_url (ZOE_STORAGE_URL) is not set for the API",
            )
        return found


@dataclass(frozen=True, slots=True)
class Controller:
    """The storage controller, for one request of a user.

    Each user may have a few requests in progress. The controller records the user as the author of a change.
    """

    controller: StorageController
    request: Request

    def ask(
        self,
        answer: type[T],
        method: str,
        path: str,
        body: BaseModel | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        lane: Lane = QUESTIONS,
        compiles: bool = False,
        lacks: str = "",
        older: T | None = None,
    ) -> T:
        """Return the response as this model; ApiProblem if the controller refuses, does not answer, or is busy.

        body: fields that were not set are left out. lacks, older: for a controller without this route, the sentence of
        503, or the response to use.
        """
        try:
            found = self._json(method, path, body, query or {}, lane, compiles)
        except ApiProblem as refused:
            if refused.problem.code != Code.NOT_FOUND or (older is None and not lacks):
                raise
            if older is None:
                raise ApiProblem(Code.STORAGE_RULES_UNAVAILABLE, lacks) from None
            return older
        try:
            # A newer controller may send more fields.
            read: T = _reader(cast(Any, answer)).validate_python(found, extra="ignore")
        except ValidationError as error:
            why = "; ".join(islice(sentences(error), _SENTENCES_MAX))
            sentence = f"cannot parse the storage controller's answer: {why}"
            raise ApiProblem(Code.STORAGE_RULES_UNAVAILABLE, sentence) from None
        return read

    def remove(self, path: str, query: Mapping[str, Any] | None = None) -> None:
        """Send DELETE for a path; ApiProblem as above."""
        self._json("DELETE", path, None, query or {}, QUESTIONS, compiles=False)

    def _json(
        self,
        method: str,
        path: str,
        body: BaseModel | None,
        query: Mapping[str, Any],
        lane: Lane,
        compiles: bool,
    ) -> Any:
        given = urlencode({name: _text(value) for name, value in query.items() if value is not None}, doseq=True)
        state = self.request.state  # its user is known when the route runs, which may be later
        headers = {"X-Request-Id": state.request_id, "X-Zoe-Author": state.user}
        json = None if body is None else body.model_dump(mode="json", exclude_unset=True)
        try:
            with self.controller.line(lane, state.user, compiles) as line:
                return line.ask(method, f"{path}?{given}" if given else path, json, headers=headers)
        except StorageRefusedError as refused:
            if refused.status == _UNAUTHORIZED:
                log.warning("the storage controller refuses the token of the API", hint=_HINT)
                sentence = "the storage controller does not accept the API's token"
                raise ApiProblem(Code.STORAGE_RULES_UNAVAILABLE, sentence, _HINT) from None
            code = Code.NOT_FOUND if refused.missing else Code.STORAGE_RULE_REFUSED
            raise ApiProblem(code, refused.sentence) from None
        except StorageUnavailableError as away:
            raise ApiProblem(Code.STORAGE_RULES_UNAVAILABLE, str(away)) from None


@cache
def _reader(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


# A coroutine, since a plain function would cost a change of threads.
async def _controller(request: Request) -> Controller:
    return Controller(request.app.state.storage_controller, request)


ControllerDep = Annotated[Controller, Depends(_controller)]
