"""The filters of a new object in two stages: those of the proxy, and those that it has object servers run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swift.common.storage_policy import EC_POLICY, POLICIES
from swift.common.swob import Request, Response
from swift.common.utils import close_if_possible
from swift.proxy.controllers.base import get_container_info

from storage_filters.filter_host.records import STEPS_MAX, Step, handed, steps_of
from storage_filters.rules.chains import Verdict
from storage_filters.rules.placing import Moved, placed
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.modules import Modules
from storage_filters.transforms.stream_filters import FilterAway, FilterRefused
from storage_filters.wsgi.headers import NODE_STEPS
from storage_filters.wsgi.object_requests import name_of

Servers = Callable[[Request], Moved | None]
"""Tells why the object servers of a request's container run no filters; None if they do."""
_UNPROCESSABLE = 422
_SAID_BYTES_MAX = 500


def no_servers(_request: Request) -> Moved | None:
    """For proxies whose object servers run none, and for gateways, which have none."""
    return Moved.NO_SERVERS


def of_policy(app: Any) -> Servers:
    """Return what judges by the storage policy of the container. app: the rest of the proxy's pipeline."""

    def servers(request: Request) -> Moved | None:
        index = get_container_info(request.environ, app, swift_source="ZOE")["storage_policy"]
        policy = POLICIES.get_by_index(index)
        return Moved.FRAGMENTS if policy is not None and policy.policy_type == EC_POLICY else None

    return servers


@dataclass(frozen=True, slots=True)
class Staged:
    """What is to be done with an object. make: makes the filters of the proxy. there: those of the object servers.
    refused: why they cannot be had.
    """

    make: Callable[[], list[Step]]
    there: Sequence[Step] = ()
    refused: FilterRefused | None = None

    @property
    def goes_on(self) -> bool:
        """Return whether object servers have a part."""
        return bool(self.there)

    def any(self) -> bool:
        """Return whether there is any filter; FilterRefused."""
        return bool(self.here()) or self.goes_on

    def here(self) -> list[Step]:
        """Return the filters of the proxy; FilterRefused."""
        if self.refused is not None:
            raise self.refused
        return self.make()

    def records(self) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
        """Return the records of both; FilterRefused."""
        return [one.record() for one in self.here()], [one.record() for one in self.there]

    def check(self, answer: Response, differs: bool) -> None:
        """Raise FilterAway for an answer that says that object servers could not do their part. differs: the client
        sent something else than its ETag says, which has the same status.
        """
        if not self.goes_on or differs or answer.status_int != _UNPROCESSABLE:
            return
        said = answer.body[:_SAID_BYTES_MAX].decode(errors="replace").strip()
        close_if_possible(answer.app_iter)
        raise FilterAway(f"the object servers do not run the filters that rules set ON OBJECT: {said}")


class Stages:
    """Divides chains. servers: tells why object servers run none."""

    def __init__(self, keyring: Keyring, servers: Servers = no_servers) -> None:
        self.keyring = keyring
        self._servers = servers

    def of(
        self, request: Request, its: Sequence[Verdict], tenant: str, modules: Modules, seen: Mapping[str, str]
    ) -> Staged:
        """Return both stages, and name that of the object servers in the request. A filter that cannot be had is told
        when the first byte is wanted: by then, the request is authorised.
        """
        asks = any(one.action.server == "OBJECT" for one in its)
        chain = placed(its, self._servers(request) if asks else None)
        here = [one for one in chain if not one.at_servers]
        try:
            if len(chain) > STEPS_MAX:
                raise FilterRefused(
                    f"{len(chain)} filters apply to this object, and at most {STEPS_MAX} run: see its rules"
                )
            name = name_of(request.environ["PATH_INFO"], 1)
            there = steps_of([one for one in chain if one.at_servers], tenant, self.keyring, name)
        except FilterRefused as error:
            return Staged(list, (), error)
        if there:
            request.headers[NODE_STEPS] = handed(there)
        return Staged(lambda: steps_of(here, tenant, self.keyring, name, modules, seen), there)
