"""Dependencies of filters in the appendix dialect: libraries of uploaded programs, and the projects that have them.

They are stored and listed, without effect on any object: proxies run WebAssembly modules, which need no libraries. They
are in the table of filters, under names that no filter can have. A dependency is found by its name or its number.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Response, UploadFile
from pydantic import BaseModel, ConfigDict, StringConstraints

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.database.guarantee_store import Ledger
from storage_controller.routes.parameters import LedgerDep

DATA_BYTES_MAX = 16 * 2**20
PATH = "dependencies"
"""Crystal uses this path for neither a filter nor a tenant."""
_PREFIX = f"{PATH}/"
_DEPENDENCIES_MAX = 500
_NO_EFFECT = "stored, but without effect: a module needs no dependency"
Project = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Dependency(BaseModel):
    """A dependency; other fields, such as its version, are stored unchanged."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[\w.-]+$")] | None = None


class Dependencies:
    """Stored dependencies: attributes by id; `deployed` lists the projects."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def dependencies(self) -> list[dict[str, Any]]:
        """Return all dependencies with their ids."""
        found = [filter_ for filter_ in self._ledger.filters() if is_dependency(filter_["dsl_name"])]
        return [{"name": (name := entry.pop("dsl_name").removeprefix(_PREFIX)), "id": name, **entry} for entry in found]

    def dependency(self, name: str) -> dict[str, Any]:
        """Return the dependency with a name or number. Raises RequestRefusedError."""
        there = self.dependencies()
        for field in ("name", "id"):
            for dependency in there:
                if dependency[field] == name:
                    return dependency
        raise RequestRefusedError(404, f"dependency {name} does not exist")

    def next_number(self) -> str:
        """Return a number that no dependency has."""
        numbers = [int(one["id"]) for one in self.dependencies() if str(one["id"]).isdecimal()]
        return str(max(numbers, default=0) + 1)

    def keep(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Create or change a dependency."""
        kept = {name: value for name, value in attributes.items() if name != "name"}
        self._ledger.keep_filter(_PREFIX + attributes["name"], kept)
        return attributes

    def keep_data(self, name: str, content: bytes) -> None:
        """Store the bytes of a dependency. Raises RequestRefusedError."""
        self._ledger.keep_filter_data(_PREFIX + self.dependency(name)["name"], content)

    def data(self, name: str) -> bytes:
        """Return the bytes of a dependency. Raises RequestRefusedError."""
        if (found := self._ledger.filter_data(_PREFIX + self.dependency(name)["name"])) is None:
            raise RequestRefusedError(404, f"dependency {name} has no file")
        return found

    def drop(self, name: str) -> None:
        """Remove a dependency, if it exists."""
        for one in self.dependencies():
            if name in (one["name"], one["id"]):
                self._ledger.drop_filter(_PREFIX + one["name"])

    def deploy(self, project: str, name: str, there: bool) -> None:
        """Record that a project has a dependency, or no longer has it. Raises RequestRefusedError."""
        one = self.dependency(name)
        projects = set(one.get("deployed", ())) - {project}
        self.keep({**one, "deployed": sorted(projects | {project} if there else projects)})


def is_dependency(dsl_name: str) -> bool:
    """Return whether a name in the table of filters belongs to a dependency."""
    return dsl_name.startswith(_PREFIX)


async def _dependencies(ledger: LedgerDep) -> Dependencies:
    return Dependencies(ledger)


DependenciesDep = Annotated[Dependencies, Depends(_dependencies)]
router = APIRouter(prefix=f"/filters/{PATH}")


@router.get("")
def list_dependencies(kept: DependenciesDep) -> list[dict[str, Any]]:
    """List all dependencies."""
    return kept.dependencies()


@router.post("", status_code=201)
def create(kept: DependenciesDep, given: Dependency) -> dict[str, Any]:
    """Create a dependency; without a name, it gets one."""
    number = kept.next_number()
    name = given.name or number
    there = kept.dependencies()
    if any(entry["name"] == name for entry in there):
        raise RequestRefusedError(409, f"dependency {name} already exists")
    if len(there) >= _DEPENDENCIES_MAX:
        raise RequestRefusedError(409, f"there are {len(there)} dependencies, and at most {_DEPENDENCIES_MAX} are kept")
    return kept.keep({**given.model_dump(), "name": name, "id": number})


@router.get("/{name}")
def show_dependency(kept: DependenciesDep, name: str) -> dict[str, Any]:
    """Show a dependency."""
    return kept.dependency(name)


@router.put("/{name}", status_code=201)
def change(kept: DependenciesDep, name: str, attributes: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
    """Change fields of a dependency."""
    there = kept.dependency(name)
    own = {name: value for name, value in there.items() if name in ("name", "id", "deployed")}
    return kept.keep({**there, **attributes, **own})


@router.delete("/{name}", status_code=204)
def delete(kept: DependenciesDep, name: str) -> Response:
    """Remove a dependency, if it exists."""
    kept.drop(name)
    return Response(status_code=204)


@router.put("/{name}/data", status_code=201)
def data(kept: DependenciesDep, name: str, file: UploadFile) -> dict[str, int]:
    """Store the bytes of a dependency."""
    content = file.file.read(DATA_BYTES_MAX + 1)
    if len(content) > DATA_BYTES_MAX:
        raise RequestRefusedError(400, f"the file is larger than {DATA_BYTES_MAX} bytes")
    kept.keep_data(name, content)
    return {"bytes": len(content)}


@router.get("/{name}/data")
def file(kept: DependenciesDep, name: str) -> Response:
    """Return the bytes of a dependency."""
    return Response(kept.data(name), media_type="application/octet-stream")


@router.get("/{project}/deploy")
def list_deployed(kept: DependenciesDep, project: str) -> list[dict[str, Any]]:
    """List the dependencies of a project."""
    found = [dependency for dependency in kept.dependencies() if project in dependency.get("deployed", ())]
    if not found:
        raise RequestRefusedError(404, f"no dependency is deployed for {project}")
    return found


@router.put("/{project}/deploy/{name}", status_code=201)
def deploy(kept: DependenciesDep, project: Project, name: str) -> Response:
    """Record that a project has a dependency. It has no effect, as the `Warning` says."""
    kept.deploy(project, name, there=True)
    return Response(status_code=201, headers=dict(warning([_NO_EFFECT])))


@router.put("/{project}/undeploy/{name}", status_code=204)
def undeploy(kept: DependenciesDep, project: Project, name: str) -> Response:
    """Record that a project no longer has a dependency."""
    kept.deploy(project, name, there=False)
    return Response(status_code=204)
