"""The OpenID Connect provider `oidc-provider` of npm, which the OpenID Foundation has certified, as a process.

Its own pages sign in any known user, and ask for consent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx

from tests.support.node import node
from tests.support.oidc import answers
from tests.support.waiting import until
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.runtimes.pip_configuration import download_environment

SOURCES = Path(__file__).with_name("oidc_provider")
BIN = Path(sys.executable).parent
PASSWORD = "any"
_REDIRECTS_MAX = 12
_FORM = re.compile(r'<form[^>]* action="([^"]+)" method="post">(.*?)</form>', re.DOTALL)
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


@dataclass(frozen=True)
class Client:
    """An application registered by hand: its id, its secret, and allowed redirect URIs."""

    client_id: str
    client_secret: str
    redirect_uri: str


@contextmanager
def certified_provider(client: Client, people: Mapping[str, Mapping[str, object]], held: HeldPorts) -> Iterator[str]:
    """The issuer's URL, on the held port. `people` are claims by subject."""
    installed = _installed()
    port = held.numbers[0]
    issuer = f"http://127.0.0.1:{port}"
    metadata = {
        "client_id": client.client_id,
        "client_secret": client.client_secret,
        "redirect_uris": [client.redirect_uri],
    }
    settings = {"issuer": issuer, "port": port, "client": metadata, "people": people}
    command = [str(node()), str(installed / "serve.js"), json.dumps(settings)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: answers(issuer))
        held.close()
        yield issuer
    finally:
        process.terminate()
        process.wait()
        held.close()


def goes_through(browser: httpx.Client, url: str, login: str, back: str) -> str:
    """Follow the provider's pages like a browser, as this subject; return the URL below `back` of the redirect."""
    for _ in range(_REDIRECTS_MAX):
        answer = browser.get(url)
        if (form := _FORM.search(answer.text)) is not None:
            fields = {name: unescape(value) for name, value in _HIDDEN.findall(form[2])}
            if fields["prompt"] == "login":
                fields |= {"login": login, "password": PASSWORD}
            answer = browser.post(urljoin(url, unescape(form[1])), data=fields)
        assert answer.is_redirect, answer.text
        url = urljoin(url, answer.headers["location"])
        if url.startswith(back):
            parts = urlsplit(url)
            return f"{parts.path}?{parts.query}"
    raise AssertionError(f"still at {url}")


def _installed() -> Path:
    """Return its directory, installed from its lock file once for all runs."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "zoe" / "oidc-provider"
    place = cache / digest.hexdigest()[:16]
    if place.exists():
        return place
    draft = cache / f"draft-{os.getpid()}"
    shutil.copytree(SOURCES, draft, ignore=shutil.ignore_patterns("node_modules"))
    env = {**download_environment(Path(sys.executable)), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    npm = [str(BIN / "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]
    subprocess.run(npm, cwd=draft, env=env, check=True, capture_output=True, timeout=300)
    draft.rename(place)
    return place
