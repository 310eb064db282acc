"""`make storage-up`: an object store on loopback until Ctrl-C."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time

from rich.console import Console

from zoe_embedded.home import Home, HomeError
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.runtimes.interpreters import RuntimeBuildError
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.configuration import StoreConfiguration, StoreUser
from zoe_embedded.swift.store import ObjectStore, StoreError

_LOOK_INTERVAL_S = 1.0
TENANT = "default:default"


def default_configuration(home: Home) -> StoreConfiguration:
    """Return the store of `make storage-up`: the storage controller's user, and one for the tenant `default`."""
    account = home.server_account
    users = [
        StoreUser("controller", "controller", home.secret("swift-controller"), (".admin", ".reseller_admin")),
        StoreUser("default", "default", home.secret("swift-default")),
    ]
    return StoreConfiguration(users, run_as=account.name if account else None)


def main() -> int:
    """Serve until Ctrl-C; return 1 if the store does not start, or a server ends by itself."""
    console = Console(soft_wrap=True)
    end_by_keyboard_interrupt()
    try:
        home = Home.find(CLONE).create()
        directory = home.path / "swift"
        with ObjectStore(home, directory, default_configuration(home)) as store:
            _tell(console, home, store)
            while (ended := store.ended_server()) is None:
                time.sleep(_LOOK_INTERVAL_S)
            console.print(f"[red]{ended} ended by itself; see {directory / ended}.log[/red]")
            return 1
    except (StoreError, HomeError, RuntimeBuildError, subprocess.CalledProcessError) as error:
        console.print(f"[red]{error}[/red]")
        return 1
    except KeyboardInterrupt:
        console.print("Stopped. The stored objects are available again with the next `make storage-up`.")
        return 0


def _tell(console: Console, home: Home, store: ObjectStore) -> None:
    console.print("[bold]OpenStack Swift is up[/bold], with Zoe's filters; log in, in another terminal:")
    console.print(f"  export ST_AUTH={store.auth_url} ST_USER={TENANT}")
    console.print(f"  export ST_KEY=$(cat {shlex.quote(str(home.secrets / 'swift-default'))})")
    console.print(f"  {shlex.quote(str(home.runtime / 'swift' / 'bin' / 'swift'))} list")
    console.print("Ctrl-C stops it.")


if __name__ == "__main__":
    sys.exit(main())
