"""Configuration of the object store for services: how inputs are read, and files for Spark and Hadoop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from storage_bridge.model import S3
from storage_bridge.stocator import (
    S3Service,
    SwiftService,
    credentials_xml,
    defaults_text,
    s3_credentials,
    s3_properties,
    swift_credentials,
    swift_properties,
)
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.promises import view_schemes
from zoe_lib.domain.values.storage import Credential, InputRead, StorageDemand, service_of
from zoe_master.backends.base import ServiceStorage
from zoe_master.storage import input_document as told_inputs
from zoe_master.storage.own_credentials import OwnCredentials
from zoe_master.storage.query_reports import QueryReportSettings

_NOTHING = ServiceStorage()
_PUSHDOWN_JAR = "zoe-pushdown"


@dataclass(frozen=True, slots=True)
class Place:
    """The address of an object-store service: Swift's authentication (v1), or the endpoint of an S3 service.

    swift: whether an S3 service is a Swift, which supports views. own_credentials: whether it accepts credentials of
    executions.
    """

    url: str
    region: str = ""
    swift: bool = False
    own_credentials: bool = False


class SparkConfig:
    """Makes the configuration of services.

    `places`: by the name of the service; `jars`: paths on the nodes; `credentials`: returns those of a tenant;
    `pushdown`: whether queries of Spark ask the store for their columns and rows, if the jar may be there; `reports`:
    where they report what they read.
    """

    def __init__(
        self,
        places: Mapping[str, Place] | None = None,
        jars: Sequence[str] = (),
        credentials: Callable[[str], Mapping[str, Credential]] = lambda _: {},
        pushdown: bool = False,
        reports: QueryReportSettings | None = None,
    ) -> None:
        self.services = None if places is None else frozenset(places)
        """The names of the services of the object store; None: unknown."""
        self._places = places or {}
        self._accepting = frozenset(name for name, place in self._places.items() if place.own_credentials)
        self._jars = jars
        self._pushdown = pushdown and any(jar.endswith("*") or _PUSHDOWN_JAR in jar for jar in jars)
        self._credentials = credentials
        self._reports = reports or QueryReportSettings()
        self.own = OwnCredentials(lambda execution: bool(self._services_with_own(execution)), bool(self._accepting))
        """The credentials of executions."""

    @property
    def view_schemes(self) -> tuple[str, ...]:
        """Return the schemes of inputs that may be read through views."""
        return view_schemes(S3 in self._places and self._places[S3].swift)

    def access(self, execution: Execution) -> ServiceStorage:
        """Return the configuration for the services of one attempt; of the object store, only the services of its
        inputs and outputs.
        """
        storage = execution.application.storage
        if storage is None:
            return _NOTHING
        inputs = {input_.name: InputRead(input_.name, input_.uri) for input_ in storage.inputs}
        inputs |= {read.name: read for read in execution.inputs}
        outputs = {output.name: output.uri for output in storage.outputs}
        used = sorted(services_of(storage) & self._places.keys())
        files = dict(self._files(used, execution)) if used else {}
        return ServiceStorage(inputs, outputs, files | dict(told_inputs.files(storage.inputs, inputs)))

    def _credentials_of(self, execution: Execution) -> Mapping[str, Credential]:
        """Return the credentials of the tenant, by service; the execution's own ones instead, where it has them."""
        known, own = self._credentials(execution.tenant), self.own.credential_of(execution)
        return known if own is None else {**known, **dict.fromkeys(self._services_with_own(execution), own)}

    def _services_with_own(self, execution: Execution) -> frozenset[str]:
        """Return the services for which an execution gets its own credential: those that accept them, and where its
        tenant's stored credential is for the tenant's own account.
        """
        storage = execution.application.storage
        if storage is None or not self._accepting:
            return frozenset()
        used = services_of(storage) & self._accepting
        known = self._credentials(execution.tenant) if used else {}
        own = f"{execution.tenant}:"
        return frozenset(name for name in used if name in known and known[name].user.startswith(own))

    def _files(self, used: Sequence[str], execution: Execution) -> Mapping[str, str]:
        known = self._credentials_of(execution)
        swift = {
            name: SwiftService(name, self._places[name].url, self._places[name].region) for name in used if name != S3
        }
        properties = dict(swift_properties(list(swift.values()), self._jars, self._pushdown)) if swift else {}
        keys = dict(swift_credentials({swift[n]: (known[n].user, known[n].key) for n in swift if n in known}))
        if swift and self._pushdown:
            keys |= self._reports.properties(execution)
        if S3 in used:
            properties |= s3_properties(S3Service(self._places[S3].url), self._jars)
            keys |= s3_credentials(known[S3].user, known[S3].key) if S3 in known else {}
        return {"spark-defaults.conf": defaults_text(properties), "core-site.xml": credentials_xml(keys)}


def services_of(storage: StorageDemand) -> frozenset[str]:
    """Return the names of the services in its URIs; plain files need none."""
    return frozenset(name for input_ in (*storage.inputs, *storage.outputs) if (name := service_of(input_.uri)))
