"""nginx, with the configuration that the documentation hands out, in front of the API."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.api import Api
from tests.support.browser import PASSWORD, Browser
from tests.support.documents import job
from tests.support.installation import free_port
from tests.support.needs import need_program
from tests.support.opened import Opened
from tests.support.serving import Served
from tests.support.upstream import application
from tests.support.waiting import until
from zoe_client.http.sockets import ThreadSocket

CONFIGURATION = Path(__file__).resolve().parents[2] / "deploy" / "nginx" / "zoe.conf"
NAME, APPS = "zoe.test", "apps.zoe.test"
AROUND = "daemon off; pid {base}/pid; error_log stderr; events {{}}\nhttp {{ access_log off; {temporary}\n{own}\n}}\n"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class Proxy:
    """nginx for one API, with a certificate that covers both names; as an ordinary user could run it."""

    def __init__(self, base: Path, api: Api, plain: int, port: int) -> None:
        self.plain, self.port = plain, port
        self._certify(base)
        own = CONFIGURATION.read_text().replace("apps.zoe.example.org", APPS).replace("zoe.example.org", NAME)
        own = own.replace("/etc/zoe/tls", str(base)).replace("127.0.0.1:5100", urlsplit(api.url).netloc)
        own = own.replace("listen 80;", f"listen 127.0.0.1:{plain};").replace(
            "listen 443 ", f"listen 127.0.0.1:{port} "
        )
        temporary = " ".join(f"{name}_temp_path {base}/{name};" for name in TEMPORARY)
        (base / "nginx.conf").write_text(AROUND.format(base=base, temporary=temporary, own=own))
        self.verify = ssl.create_default_context(cafile=base / "fullchain.pem")
        self._process = subprocess.Popen(["nginx", "-p", base, "-c", base / "nginx.conf"])
        until(self._listens)

    def _certify(self, base: Path) -> None:
        names = f"subjectAltName=DNS:{NAME},DNS:*.{APPS}"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}", "-addext", names,
             "-keyout", base / "key.pem", "-out", base / "fullchain.pem"], check=True, capture_output=True,
        )  # fmt: skip

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def http(self, host: str = NAME) -> httpx.Client:
        """A browser's connections, which finds the name at this address."""

        def name(request: httpx.Request) -> None:
            request.extensions["sni_hostname"] = host
            request.headers["Host"] = f"{host}:{self.port}"

        base = f"https://127.0.0.1:{self.port}"
        hooks: Any = {"request": [name]}
        return httpx.Client(base_url=base, verify=self.verify, event_hooks=hooks, timeout=30, trust_env=False)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(30)


@pytest.fixture
def api(postgres_url: str) -> Iterator[Api]:
    """Under the names of its proxy."""
    made = Api(postgres_url, public_url=f"https://{NAME}:{free_port()}", apps_domain=APPS)
    yield made
    made.close()


@pytest.fixture
def proxy(api: Api, tmp_path: Path) -> Iterator[Proxy]:
    """Before `api`."""
    need_program("nginx")
    need_program("openssl")
    made = Proxy(tmp_path, api, free_port(), urlsplit(api.settings.public_url or "").port or 0)
    yield made
    made.close()


def test_a_browser_signs_in_and_submits_over_tls_only(api: Api, proxy: Proxy) -> None:
    user, origin = Browser(api).user, f"https://{NAME}:{proxy.port}"
    with proxy.http() as http:
        answer = http.post("/api/v1/session", json={"user": user, "password": PASSWORD}, headers={"Origin": origin})
        assert answer.status_code == 200, answer.text
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-zoe-session=")
        assert "Secure" in cookie
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        proof = {"X-CSRF-Token": answer.json()["csrf_token"], "Origin": origin}
        submission = {"application": job("true")}
        signed_in = {**proof, "Cookie": cookie.partition(";")[0]}
        assert http.post("/api/v1/executions", json=submission, headers=signed_in).status_code == 201
    plain = httpx.get(f"http://127.0.0.1:{proxy.plain}/executions/", headers={"Host": NAME}, trust_env=False)
    assert (plain.status_code, plain.headers["location"]) == (308, f"https://{NAME}/executions/")


def test_the_api_sees_the_address_of_the_browser_and_no_other(api: Api, proxy: Proxy) -> None:
    with proxy.http() as http:
        forged = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "http"}
        assert http.get("/api/v1/me", headers=forged).status_code == 401
    entries = until(lambda: api.store.accounts.audit(None, 10))
    assert {entry.address for entry in entries} == {"127.0.0.1"}


def test_events_arrive_at_once_and_bodies_of_some_size_pass(api: Api, proxy: Proxy) -> None:
    asks = {"Authorization": f"Bearer {api.token}"}
    with proxy.http() as http, http.stream("GET", "/api/v1/events", headers=asks) as stream:
        lines = stream.iter_lines()
        next(lines)
        began_s = time.monotonic()
        api.client().submit(job("true"))
        assert next(json.loads(line[6:]) for line in lines if line.startswith("data: "))["kind"] == "submitted"
        assert time.monotonic() - began_s < 10  # it would wait for a buffer to be full
    with proxy.http() as http:
        large = {"application": job("true", "x" * 200_000)}
        answer = http.post("/api/v1/executions", json=large, headers=asks)
        assert answer.headers["content-type"] == "application/problem+json"  # Zoe's own bound, not the proxy's


def test_an_application_is_reached_at_its_own_name_by_requests_and_websockets(api: Api, proxy: Proxy) -> None:
    upstream = Served(application)
    try:
        execution = Opened(api, upstream)
        asks = {"Authorization": f"Bearer {api.token}"}
        with proxy.http() as http:
            answer = http.post(f"{execution.path}/web/open", headers=asks)
            url = urlsplit(answer.json()["url"])
        host = f"{execution.execution.id}.{APPS}"
        assert (url.scheme, url.hostname, url.port) == ("https", host, proxy.port)
        with proxy.http(host) as inside:
            entered = inside.get(url._replace(scheme="", netloc="").geturl())
            assert (entered.status_code, "Secure" in entered.headers["set-cookie"]) == (303, True)
            cookie = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
            assert inside.get("/echo", headers=cookie).json()["target"] == "/echo?"
        raw = socket.create_connection(("127.0.0.1", proxy.port))
        origin: Any = f"https://{host}:{proxy.port}"
        talk = ThreadSocket(
            f"wss://{host}:{proxy.port}/talk", sock=raw, ssl=proxy.verify, origin=origin, additional_headers=cookie,
            proxy=None,
        )  # fmt: skip
        try:
            talk.receive()
            talk.send("hello")
            assert talk.receive() == "hello"
        finally:
            talk.close()
    finally:
        upstream.close()
