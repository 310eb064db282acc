"""`make serve STORAGE=1`: the whole stack with an OpenStack Swift and its controller."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from storage_bridge.model import BandwidthSlo
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.demos.storage import RATE
from zoe_embedded.home import Home, make_directory, write_private
from zoe_embedded.swift.configuration import S3_REGION
from zoe_embedded.swift.site import SERVICE, Site, storage_site
from zoe_lib.tokens.api_tokens import FIRST_TENANT


@contextmanager
def served_store(home: Home, settings: Mapping[str, object]) -> Iterator[Site]:
    """Start everything; the tenant `default` has a user of the store and a key, and the proxy has a cache."""
    rates = BandwidthSlo(RATE, RATE)
    with storage_site(home, rates, settings, on_demand=True, keyring=str(_keyring(home)), cache=True, s3=True) as site:
        with Client(site.stack.url, site.stack.token) as client:
            client.set_storage_credential(SERVICE, CredentialRequest(user=site.user.login, key=site.user.key))
        yield site


def tell_store(console: Console, site: Site) -> None:
    """Print how to use the store."""
    secrets, runtime = site.stack.home.secrets, site.stack.home.runtime
    console.print("[bold]OpenStack Swift is up[/bold], with Zoe's filters; the tenant `default` uses it by:")
    console.print(f"  export ST_AUTH={site.store.auth_url} ST_USER={site.user.login}")
    console.print(f"  export ST_KEY=$(cat {shlex.quote(str(secrets / 'swift-default'))})")
    console.print(f"  {shlex.quote(str(runtime / 'swift' / 'bin' / 'swift'))} list")
    s3 = f"endpoint {site.store.proxy_urls[0]}, region {S3_REGION}, path style; access key $ST_USER, secret key $ST_KEY"
    console.print(f"By S3: {s3}")
    console.print(
        f"Applications read it as swift2d://CONTAINER.{SERVICE}/PREFIX; {RATE / 1e6:.0f} MB/s can be guaranteed."
    )
    console.print("  .venv/bin/zoe storage top")
    console.print("  .venv/bin/zoe storage policy add 'FOR TENANT default DO SET COMPRESSION, SET ENCRYPTION'")


def _keyring(home: Home) -> Path:
    """Return the file with the tenant's key, for the account that runs the store."""
    home.create()
    make_directory(home.path / "storage", 0o711 if home.by_root else 0o700)
    key = hashlib.sha256(home.secret("swift-keyring").encode()).hexdigest()
    path = home.path / "storage" / "keyring.json"
    if not path.exists():
        write_private(path, json.dumps({FIRST_TENANT: {"current": "first", "keys": {"first": key}}}))
        account = home.server_account
        if account is not None:
            os.chown(path, account.uid, account.gid)
    return path
