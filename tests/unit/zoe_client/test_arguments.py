"""Client's handling of arguments that cannot be sent."""

from __future__ import annotations

import httpx
import pytest

from zoe_client import Client, ZoeError


def client(token: str = "zoe_token") -> Client:
    return Client("http://127.0.0.1:1", token, transport=httpx.MockTransport(lambda request: httpx.Response(500)))


@pytest.mark.parametrize("token", ["zoe_a\nb", "zoe_\x00", "zoe_é", "zoe_a b"])
def test_a_token_that_cannot_be_one_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ZoeError) as refused:
        client(token)
    assert token not in str(refused.value)
    assert refused.value.__cause__ is None


def test_the_line_end_of_a_file_is_not_part_of_a_token() -> None:
    assert client("zoe_token\r\n")._http.headers["Authorization"] == "Bearer zoe_token"


def test_value_that_is_no_json_is_not_sent() -> None:
    with client() as one, pytest.raises(ValueError, match="JSON"):
        one.submit({"version": 4, "name": "x", "time_limit_s": float("nan")})
