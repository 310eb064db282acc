"""Modules of rules and of stored objects, as filters of this proxy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from storage_filters.rules.chains import Verdict
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.rules import Action, ModuleVersion
from storage_filters.transforms.modules.engine import InvalidModuleError, Module
from storage_filters.transforms.modules.files import MissingModuleError, ModuleFiles
from storage_filters.transforms.modules.filters import ModuleFilter, NamedModule, ReadModule
from storage_filters.transforms.modules.memory import MemoryShare, unbounded_share
from storage_filters.transforms.modules.run import Pause
from storage_filters.transforms.stream_filters import DamagedObjectError, FilterAway, FilterRefusedError
from storage_filters.wsgi.object_requests import ObjectRequest, text_of


class Modules:
    """The files of this proxy, and the versions in its present rules. pause: lets other requests run. share: makes the
    memory share of a run.
    """

    def __init__(
        self, book: RuleBook, files: ModuleFiles, pause: Pause, share: Callable[[], MemoryShare] = unbounded_share
    ) -> None:
        self._share = share
        self._book = book
        self._files = files
        self._pause = pause

    def stores(self, tenant: str, action: Action) -> bool:
        """Return whether a filter is a module that runs when an object is stored."""
        version = self._book.module(tenant, action)
        return version is not None and not version.reads

    def filter(self, tenant: str, action: Action, metadata: Mapping[str, str]) -> ModuleFilter:
        """Return the filter of a new object. metadata: of the request. Raises FilterRefusedError."""
        version = self._book.module(tenant, action)
        assert version is not None
        return ModuleFilter(self._of_rule(version, action), metadata)

    def readers(self, steps: Sequence[Verdict], tenant: str, metadata: Mapping[str, str]) -> list[ReadModule]:
        """Return the filters of an object that is read, in their order. metadata: of the object. Raises
        FilterRefusedError.
        """
        found = []
        for step in steps:
            version = self._book.module(tenant, step.action)
            if version is not None and version.reads:
                found.append(ReadModule(self._of_rule(version, step.action), metadata))
        return found

    def filter_of_record(self, record: Mapping[str, Any]) -> ModuleFilter:
        """Return the filter of a stored object, by the version that stored it. Raises FilterRefusedError and
        DamagedObjectError.
        """
        name, sha256 = str(record["name"]), str(record["module"])
        parameters = {str(key): str(value) for key, value in dict(record["with"]).items()}
        try:
            module = self._files.load(sha256)
        except MissingModuleError:
            self._files.ask(sha256)
            raise FilterRefusedError(
                f"the filter {name} was applied to the object, but this proxy lacks its module {sha256}"
            ) from None
        except InvalidModuleError as error:
            raise FilterRefusedError(
                f"the filter {name} was applied to the object, but cannot run here: {error}"
            ) from None
        if module.reads:
            raise DamagedObjectError(f"the filter {name} is not one for stored objects")
        return ModuleFilter(NamedModule(name, sha256, module, parameters, self._pause, self._share))

    def _of_rule(self, version: ModuleVersion, action: Action) -> NamedModule:
        module = self._load(version)
        return NamedModule(version.name, version.sha256, module, _parameters(action), self._pause, self._share)

    def _load(self, version: ModuleVersion) -> Module:
        try:
            found = self._files.load(version.sha256)
        except MissingModuleError:
            raise FilterAway(
                f"the filter {version.name} has not reached this proxy yet: try again in a moment"
            ) from None
        except InvalidModuleError as error:
            raise FilterRefusedError(f"the filter {version.name} cannot run here: {error}") from None
        if found.reads != version.reads:
            raise FilterRefusedError(f"the filter {version.name} is of another kind than its rule says")
        return found


def metadata_of(place: ObjectRequest, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata for modules, of an object or of a request to store one: names in lower case, and values."""
    found = {"tenant": place.tenant, "container": place.container, "object": place.object}
    if place.size is not None:
        found["size"] = str(place.size)
    for name, value in headers.items():
        if (small := name.lower()) == "content-type" or small.startswith("x-object-meta-"):
            found[small] = text_of(value)
    return found


def _parameters(action: Action) -> dict[str, str]:
    return {name.lower(): value for name, value in action.parameters}
