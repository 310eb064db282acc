"""The API as a process: it answers, and ends in order on a signal."""

from __future__ import annotations

import signal
import socket

import httpx
import pytest

from tests.support.browser import PASSWORD
from tests.support.installation import Installation, free_port
from tests.support.waiting import until
from zoe_api.http.attempts import guess_limit
from zoe_api.http.serving.listening import CANNOT_LISTEN, listening_trouble
from zoe_api.people.sign_in import passwords
from zoe_lib.store.people import User


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).text == "ok"
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_and_open_streams_with_it(executed: Installation, number: signal.Signals) -> None:
    port = free_port()
    process = executed.start_api(port)
    until(lambda: answers(port), lambda: executed.log(f"api-{port}"))
    headers = {"Authorization": f"Bearer {executed.token}"}
    transport = httpx.HTTPTransport()
    with (
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30, transport=transport) as http,
        http.stream("GET", "/api/v1/events") as stream,
    ):
        pieces = stream.iter_raw()
        next(pieces)  # it is open
        process.send_signal(number)
        assert all(piece.startswith(b":") for piece in pieces)  # to a complete end
    assert process.wait(30) == 0
    assert "rror" not in executed.log(f"api-{port}")


@pytest.mark.parametrize("trusted", [None, '["10.0.0.1", "127.0.0.2/31"]'])
def test_only_a_proxy_that_is_trusted_says_who_asks_and_how(installation: Installation, trusted: str | None) -> None:
    installation.store.accounts.add_user(User("ben", passwords.hash_password(PASSWORD)))
    installation.store.accounts.ensure_member("ben", "red", "user")
    port = free_port()
    installation.start_api(port, **({"ZOE_TRUSTED_PROXIES": trusted} if trusted else {}))
    until(lambda: answers(port), lambda: installation.log(f"api-{port}"))

    # Not even programs of this machine, which is where a flood from inside begins, unless they are named.
    proxied = httpx.HTTPTransport(local_address="127.0.0.2" if trusted else "127.0.0.1")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=proxied, timeout=30) as http:

        def sign_in(password: str, browser: str) -> httpx.Response:
            headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": browser}
            body = {"user": "ben", "password": password}
            return http.post("/api/v1/session", json=body, headers=headers)

        cookie = sign_in(PASSWORD, "192.0.2.7").headers["set-cookie"]
        assert cookie.startswith("__Host-zoe-session=" if trusted else "zoe-session=")
        for _ in range(guess_limit.FAILURES_OF_PAIR_MAX):
            assert sign_in("a guess", "192.0.2.7").status_code == 401
        assert sign_in(PASSWORD, "192.0.2.8").status_code == (200 if trusted else 429)


def test_a_proxy_that_is_no_address_is_refused_at_the_start(installation: Installation) -> None:
    process = installation.start_api(free_port(), ZOE_TRUSTED_PROXIES='["proxy.example.org"]')
    assert process.wait(30) != 0


def test_a_taken_port_is_a_sentence(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert installation.start_api(port).wait(30) == CANNOT_LISTEN
    words = f"cannot listen on 127.0.0.1 port {port}: Address already in use; change api_port (ZOE_API_PORT)"
    assert installation.log(f"api-{port}") == f"zoe-api: {words}\n"


@pytest.mark.parametrize("host", ["192.0.2.1", "a..b"])
def test_an_address_of_another_machine_names_its_setting(host: str) -> None:
    trouble = listening_trouble(host, free_port())
    assert trouble is not None
    assert trouble.startswith(f"cannot listen on {host} port ")
    assert trouble.endswith("; change api_host (ZOE_API_HOST)")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_an_address_of_this_machine_is_accepted(host: str) -> None:
    assert listening_trouble(host, free_port()) is None
