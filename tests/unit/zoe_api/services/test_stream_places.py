"""How many streams and requests a user may have open."""

from __future__ import annotations

from contextlib import ExitStack

from tests.support.plain_api import refusal
from zoe_api.http.problems.codes import Code
from zoe_api.services.stream_places import StreamPlaces


def test_a_session_and_a_user_have_so_many_streams() -> None:
    places = StreamPlaces(3, 2, 1)
    with ExitStack() as open_:
        for _ in range(2):
            open_.enter_context(places.stream("ada", "token"))
        with refusal(Code.TOO_MANY_STREAMS) as of_token, places.stream("ada", "token"):
            pass
        assert of_token.problem.detail == "the maximum of open streams of one session or token is 2"
        open_.enter_context(places.stream("ada", "other"))
        with refusal(Code.TOO_MANY_STREAMS) as of_user, places.stream("ada", "third"):
            pass
        assert of_user.problem.detail == "the maximum of open streams of one user is 3"
        with places.stream("bob", "fourth"), places.request("ada"):
            pass
    with places.stream("ada", "token"):
        pass
    assert not places._open


def test_requests_to_applications_are_counted_apart() -> None:
    places = StreamPlaces(1, 1, 2)
    with places.stream("ada", "t"), places.request("ada"), places.request("ada"):
        with refusal(Code.TOO_MANY_STREAMS) as found, places.request("ada"):
            pass
        assert "requests of one user to applications is 2" in found.problem.detail
        with places.request("bob"):
            pass


def test_a_place_is_free_again_after_an_error() -> None:
    places = StreamPlaces(1, 1, 1)
    for _ in range(2):
        try:
            with places.stream("ada", "t"):
                raise ZeroDivisionError
        except ZeroDivisionError:
            continue
