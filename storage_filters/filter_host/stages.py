"""Divide the filters of a new object into two stages: at the proxy, and at the object servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swift.common.storage_policy import EC_POLICY, POLICIES
from swift.common.swob import Request, Response
from swift.common.utils import close_if_possible
from swift.proxy.controllers.base import get_container_info

from storage_filters.filter_host.records import STEPS_MAX, Step, node_record_text, steps_of
from storage_filters.rules.chains import Verdict
from storage_filters.rules.placing import MoveReason, place_filters
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.modules import Modules
from storage_filters.transforms.stream_filters import FilterAway, FilterRefusedError
from storage_filters.wsgi.headers import NODE_STEPS
from storage_filters.wsgi.object_requests import name_of

Servers = Callable[[Request], MoveReason | None]
"""Returns why the object servers of a request's container run no filters; None if they do."""
_UNPROCESSABLE = 422
_SAID_BYTES_MAX = 500


def no_servers(_request: Request) -> MoveReason | None:
    """Return the reason for proxies whose object servers run no filters, and for gateways, which have no object
    servers.
    """
    return MoveReason.NO_SERVERS


def servers_by_policy(app: Any) -> Servers:
    """Return a function that decides by the storage policy of the container. app: the rest of the proxy's pipeline."""

    def servers(request: Request) -> MoveReason | None:
        index = get_container_info(request.environ, app, swift_source="ZOE")["storage_policy"]
        policy = POLICIES.get_by_index(index)
        return MoveReason.FRAGMENTS if policy is not None and policy.policy_type == EC_POLICY else None

    return servers


@dataclass(frozen=True, slots=True)
class StagedFilters:
    """Stages of an object's filters. make: makes the filters of the proxy. there: of the object servers. refused: why
    the filters cannot run.
    """

    make: Callable[[], list[Step]]
    there: Sequence[Step] = ()
    refused: FilterRefusedError | None = None

    @property
    def has_node_steps(self) -> bool:
        """Return whether object servers run some of the filters."""
        return bool(self.there)

    def has_filters(self) -> bool:
        """Return whether there is any filter. Raises FilterRefusedError."""
        return bool(self.proxy_steps()) or self.has_node_steps

    def proxy_steps(self) -> list[Step]:
        """Return the filters of the proxy. Raises FilterRefusedError."""
        if self.refused is not None:
            raise self.refused
        return self.make()

    def records(self) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
        """Return the records of both stages. Raises FilterRefusedError."""
        return [step.record() for step in self.proxy_steps()], [step.record() for step in self.there]

    def check(self, answer: Response, differs: bool) -> None:
        """Check the store's answer. Raises FilterAway if object servers could not run their filters. differs: the body
        does not match its ETag, which has the same status.
        """
        if not self.has_node_steps or differs or answer.status_int != _UNPROCESSABLE:
            return
        said = answer.body[:_SAID_BYTES_MAX].decode(errors="replace").strip()
        close_if_possible(answer.app_iter)
        raise FilterAway(f"the object servers cannot run the filters that rules set ON OBJECT: {said}")


class Stages:
    """Divides chains into stages. servers: returns why object servers run no filters."""

    def __init__(self, keyring: Keyring, servers: Servers = no_servers) -> None:
        self.keyring = keyring
        self._servers = servers

    def stages_for(
        self, request: Request, its: Sequence[Verdict], tenant: str, modules: Modules, seen: Mapping[str, str]
    ) -> StagedFilters:
        """Return both stages, and name the object servers' stage in the request. A filter that cannot run is reported
        when the first byte is read: by then, the request is authorised.
        """
        asks = any(verdict.action.server == "OBJECT" for verdict in its)
        chain = place_filters(its, self._servers(request) if asks else None)
        here = [placed for placed in chain if not placed.at_servers]
        try:
            if len(chain) > STEPS_MAX:
                raise FilterRefusedError(
                    f"{len(chain)} filters apply to this object, and at most {STEPS_MAX} run: see its rules"
                )
            name = name_of(request.environ["PATH_INFO"], 1)
            there = steps_of([placed for placed in chain if placed.at_servers], tenant, self.keyring, name)
        except FilterRefusedError as error:
            return StagedFilters(list, (), error)
        if there:
            request.headers[NODE_STEPS] = node_record_text(there)
        return StagedFilters(lambda: steps_of(here, tenant, self.keyring, name, modules, seen), there)
