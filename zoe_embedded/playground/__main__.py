"""`make playground`: Zoe with two tenants, their executions of two weeks, a queue and an object store, until Ctrl-C."""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import httpx
import structlog
from rich.console import Console

from storage_bridge.model import BandwidthSlo
from zoe_client import Client, ZoeError
from zoe_embedded.demos.given_settings import add_option
from zoe_embedded.demos.preparing import prepare_home
from zoe_embedded.demos.serving import keep_up, tell_address
from zoe_embedded.demos.storage import FAILURES, RATE
from zoe_embedded.home import Home
from zoe_embedded.playground import history, present
from zoe_embedded.playground.objects import fill_store, store_users
from zoe_embedded.playground.people import BY_NAME, PEOPLE, add_people, password, set_terms, token
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.runtimes.needs import MEMCACHED, PROGRAMS, find_program
from zoe_embedded.stack import Stack, lock_home
from zoe_embedded.swift.site import Site, storage_site
from zoe_lib.store.postgres.migrate import upgrade
from zoe_lib.store.postgres.store import PostgresStore

PREFERRED_PORT = 5110
# All users of a playground are the one person who started it, on loopback.
_SETTINGS = {"api_port": PREFERRED_PORT, "insecure": True}
_NODES = [{"name": f"node-{number}", "cores": 4, "memory_bytes": 8 << 30} for number in (1, 2)]


class Playground:
    """A home beside that of `make serve`, filled at its first start; an interrupted start is repeated."""

    def __init__(self, home: Home) -> None:
        self.home = replace(home, path=home.path.with_name(f"{home.path.name}-playground"))
        self._has_past = self.home.state / "playground-past"
        self._is_filled = self.home.state / "playground-filled"

    def add_past(self) -> None:
        """Create people and ended executions, if they are missing."""
        with lock_home(self.home):
            if self._has_past.exists():
                return
            print("[playground: two weeks of executions, by the scheduler over simulated time]", flush=True)
            postgres = EmbeddedPostgres(self.home)
            postgres.stop()
            shutil.rmtree(postgres.data_directory, ignore_errors=True)
            url = postgres.start()
            try:
                upgrade(url)
                with closing(PostgresStore(url)) as store:
                    add_people(self.home, store, time.time())
                    history.fill(store, time.time())
            finally:
                postgres.stop()
            self._has_past.touch()

    def add_present(self, stack: Stack, site: Site | None) -> None:
        """Set prices and limits, fill the store and the queue, if that has not been done."""
        if self._is_filled.exists():
            return
        with ExitStack() as undo:
            admin = undo.enter_context(Client(stack.url, stack.token))
            set_terms(admin, time.time() - history.PAST_S)
            if site is not None:
                fill_store(site, admin, store_users(self.home))
            people = {name: Client(stack.url, token(self.home, person)) for name, person in BY_NAME.items()}
            present.submit({name: undo.enter_context(client) for name, client in people.items()})
        self._is_filled.touch()


def main() -> int:
    """Serve until Ctrl-C; return 1 if a process does not start, or repeatedly ends by itself."""
    parser = argparse.ArgumentParser(prog="playground", description=__doc__)
    add_option(parser)
    console = Console(soft_wrap=True)
    end_by_keyboard_interrupt()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    try:
        return _serve(console, parser.parse_args().settings)
    except (*FAILURES, ZoeError, httpx.HTTPError) as error:
        console.print(str(error), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("Stopped. The next `make playground` goes on with the same data.")
        return 0


def _serve(console: Console, file: Path | None) -> int:
    home, given = prepare_home(file, spark=False)
    settings = {**_SETTINGS, "local_nodes": _NODES, **given}
    playground = Playground(home)
    playground.add_past()
    with ExitStack() as undo:
        site = None
        if find_program(MEMCACHED) is None:
            console.print(f"Without an object store: {MEMCACHED} is not installed ({PROGRAMS[MEMCACHED]})")
            stack = undo.enter_context(Stack(playground.home, on_demand=True, settings=settings))
        else:
            users = store_users(playground.home)
            rates = BandwidthSlo(RATE, RATE)
            site = undo.enter_context(storage_site(playground.home, rates, settings, users, on_demand=True))
            stack = site.stack
        playground.add_present(stack, site)
        tell_address(console, stack)
        for person in PEOPLE:
            console.print(f"  {person.tenant}: {person.name} ({person.role}), {password(playground.home, person)}")
        console.print(f"For a new playground, end this one and remove {playground.home.path}.")
        return keep_up(console, stack, site)


if __name__ == "__main__":
    sys.exit(main())
