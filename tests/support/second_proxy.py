"""Another proxy of an object store, which listens to the same storage controller and has files of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx

from tests.support.installation import free_port
from tests.support.waiting import until
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.store import ObjectStore


@contextmanager
def second_proxy(store: ObjectStore, by_root: bool = False) -> Iterator[str]:
    """Yield its URL for signing in, once it is up. The controller knows no proxy of its name, so it gets no limits.

    by_root: root starts it, and it changes to the user of its configuration.
    """
    home, port = Home.find(CLONE).create(), free_port()
    directory, first = store.directory, (store.directory / "proxy.conf").read_text()
    for before, after in (
        (f"bind_port = {urlsplit(store.auth_url).port}", f"bind_port = {port}"),
        (f"{directory}/rates", f"{directory}/second"),
        ("proxy_name = proxy", "proxy_name = second"),
    ):
        assert before in first, before
        first = first.replace(before, after)
    configuration = directory / "second.conf"
    configuration.write_text(first)
    if home.server_account is not None:
        os.chown(configuration, home.server_account.uid, home.server_account.gid)
    ids = store._uid, store._gid
    try:
        if by_root:
            assert "\nuser = " in first
            store._uid = store._gid = None
        store._begin(home.runtime / "swift", "second", "proxy")
        store._uid, store._gid = ids
        url = f"http://127.0.0.1:{port}"
        until(lambda: _healthy(url), lambda: store.log_of("second")[-2000:])
        until((directory / "second.executions").exists)
        yield f"{url}/auth/v1.0"
    finally:
        store._uid, store._gid = ids
        process = store._processes.pop("second")
        process.terminate()
        process.wait()
        for file in directory.glob("second*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()


def _healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthcheck").status_code == 200
    except httpx.TransportError:
        return False
