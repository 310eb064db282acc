"""All of Zoe with an object store and its controller, on one machine."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from storage_bridge.model import BandwidthSlo
from zoe_client import Client
from zoe_embedded.home import Home, make_directory
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.processes.children import end_orphans
from zoe_embedded.runtimes.jars import JarError, readable_jars
from zoe_embedded.runtimes.needs import MEMCACHED
from zoe_embedded.runtimes.pushdown_jar import readable_pushdown
from zoe_embedded.runtimes.runtime import ensure_runtime
from zoe_embedded.stack import Stack, StackError, lock_home
from zoe_embedded.swift.configuration import REGION, StoreConfiguration, StoreUser
from zoe_embedded.swift.controller import CONFIG_VARIABLE, ControllerSite
from zoe_embedded.swift.store import ObjectStore
from zoe_embedded.swift.store_socket import StoreSocket
from zoe_lib.store.postgres.migrate import upgrade
from zoe_lib.tokens.api_tokens import FIRST_TENANT

LOG = logging.getLogger(__name__)

SERVICE = "zoe"
"""The service's name in URIs: `swift2d://container.zoe/prefix`."""


_ANSWERS_WITHIN_S = 60.0
_LOOK_S = 0.1


@dataclass(frozen=True)
class Site:
    """The running parts; `user` is the store's user with which the tenant's applications sign in."""

    stack: Stack
    store: ObjectStore
    user: StoreUser
    controller: ControllerSite

    def revive(self) -> list[str]:
        """Restart ended processes, except servers of Swift; return a sentence for each. memcached, which holds only
        tokens, is restarted too.
        """
        return [*self.store.revive([MEMCACHED]), *self.stack.revive(), *self.controller.revive()]

    def revive_all(self) -> list[str]:
        """Restart ended processes, including servers of Swift; return a sentence for each. Raises StoreError if that
        does not help.
        """
        return [*self.store.revive(), *self.revive()]


@contextmanager
def storage_site(
    home: Home,
    rates: BandwidthSlo,
    given: Mapping[str, object] | None = None,
    others: Sequence[StoreUser] = (),
    *,
    spark: bool = True,
    on_demand: bool = False,
    **options: Any,
) -> Iterator[Site]:
    """Start store, PostgreSQL, storage controller, master and API, in this order; `rates` can be guaranteed.

    `given` are settings of the user. `others` are further users of the store, `options` other options of it; with
    `behind` it is a gateway.
    """
    home.create()
    account = home.server_account
    directory = home.path / "storage"
    make_directory(directory, 0o711 if home.by_root else 0o700)
    admin = StoreUser("controller", "controller", home.secret("swift-controller"), (".admin", ".reseller_admin"))
    user = StoreUser(FIRST_TENANT, FIRST_TENANT, home.secret("swift-default"))
    run_as = account.name if account is not None else None
    if spark and not on_demand:
        ensure_runtime(home)  # the jar for queries is compiled with it, before the settings name it
    with ExitStack() as undo:
        undo.enter_context(lock_home(home))  # before the files of a running store are written anew
        end_orphans(partial(_is_left, f"{directory}/"))
        token = home.secret("storage-controller-token")
        controller = undo.enter_context(closing(ControllerSite(directory, token, account)))
        line = controller.line
        configuration = StoreConfiguration(
            [admin, user, *others],
            nodes=1,
            replicas=1,
            run_as=run_as,
            controller=line,
            executions_secret=str(controller.executions_secret),
            **options,
        )
        place = directory / ("swift" if configuration.behind is None else "gateway")
        store = undo.enter_context(ObjectStore(home, place, configuration))
        asked = undo.enter_context(StoreSocket(store))
        controller.restart_command = asked.restart_command
        if configuration.behind is None:
            controller.further["swift_policy_command"] = asked.policy_command
        settings: dict[str, object] = {
            **(given or {}),
            "storage_url": controller.url,
            "storage_token_file": str(controller.token_file),
            "storage_services": {SERVICE: {"url": store.auth_url, "region": REGION, "execution_credentials": True}},
            "storage_jars": [*readable_jars(home), *_pushdown_jars(home, given)],
            "storage_interval_s": 1.0,
        }
        # PostgreSQL ends after the controller, which releases its lead there; otherwise the next one waits for it.
        postgres = EmbeddedPostgres(home)
        undo.callback(postgres.stop)
        database_url = postgres.start()
        upgrade(database_url)
        undo.enter_context(controller.serve(store, admin, database_url, rates))
        stack = undo.enter_context(Stack(home, spark, settings=settings, on_demand=on_demand, stops_database=False))
        _wait_for_answers(stack)
        yield Site(stack, store, user, controller)


def _pushdown_jars(home: Home, given: Mapping[str, object] | None) -> Sequence[str]:
    """Return the jar for queries, unless the user does not want it; without it they read plainly."""
    if not (given or {}).get("storage_query_pushdown", True):
        return ()
    try:
        return readable_pushdown(home)
    except JarError as error:
        LOG.warning("queries of Spark read whole objects: %s", error)
        return ()


def _is_left(directory: str, words: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Return whether a process is a server of the store or a controller with a configuration in this directory."""
    return any(word.startswith(directory) for word in (*words, variables.get(CONFIG_VARIABLE, "")))


def _wait_for_answers(stack: Stack) -> None:
    """Return when the controller has answered the master. Raises StackError if it does not."""
    give_up_s = time.monotonic() + _ANSWERS_WITHIN_S
    with Client(stack.url, stack.token, patience_s=_ANSWERS_WITHIN_S) as client:
        while problem := client.storage().problem:
            if died := stack.dead_process():
                raise StackError(died)
            if time.monotonic() >= give_up_s:
                raise StackError(f"the master has no answer after {_ANSWERS_WITHIN_S:g} s: {problem}")
            time.sleep(_LOOK_S)
