"""Rules within one component."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean, duplicates, pointer
from zoe_client.documents.quantities import bytes_of
from zoe_client.documents.reading import mapping, number, objects, text
from zoe_lib.descriptions import bounds
from zoe_lib.domain.applications.paths import plain_path
from zoe_lib.domain.applications.requirements import package_of
from zoe_lib.domain.applications.sources import default_directory, git_url, is_ssh

# Headers of the request itself, and those that only the proxy sets.
RESERVED_HEADERS = frozenset(
    {
        "connection", "content-encoding", "content-length", "content-type", "cookie", "date", "expect", "forwarded",
        "host", "keep-alive", "origin", "referer", "te", "trailer", "transfer-encoding", "upgrade", "via",
    }
)  # fmt: skip
RESERVED_PREFIXES = ("proxy-", "sec-", "x-forwarded-", "x-zoe-")
# Variables that find or load programs, and variables that Zoe sets.
RESERVED_VARIABLES = frozenset({"PATH", "HOME", "TMPDIR"})
RESERVED_VARIABLE_PREFIXES = ("LD_", "ZOE_")


def check_component(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield the findings of one component; `place` is its place in the document."""
    yield from _check_counts(place, component)
    yield from _check_command(place, component)
    yield from _check_ports(place, component)
    yield from _check_readiness(place, component)
    yield from _check_scaling(place, component)
    yield from _check_progress(place, component)
    yield from _check_volumes(place, component)
    yield from _check_secrets(place, component)
    yield from _check_limits(place + "/resources", mapping(component, "resources"))
    yield from _check_files(place, mapping(component, "files"))
    yield from _check_requirements(place, component)
    yield from _check_sources(place, component)


def _check_counts(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    essential = number(component, "essential_count") if "essential_count" in component else 1
    total = number(component, "total_count") if "total_count" in component else 1
    if essential is not None and total is not None and essential > max(total, 0):
        message = f"essential_count {essential} is greater than total_count {total}"
        yield Diagnostic(
            place + "/essential_count", Code.CONFLICT, message, "total_count includes the essential instances"
        )
    preferred = number(component, "preferred_count")
    if preferred is None or essential is None or total is None:
        return
    at, scaling = place + "/preferred_count", mapping(component, "scaling")
    maximum = number(scaling, "maximum")
    if scaling and "total_count" not in component:
        message = "preferred_count with scaling needs total_count, the number of instances at the start"
        yield Diagnostic(at, Code.CONFLICT, message, f'add "total_count": {max(preferred, essential)}')
    elif not essential <= preferred <= total:
        message = f"preferred_count {preferred} is not between essential_count {essential} and total_count {total}"
        yield Diagnostic(at, Code.CONFLICT, message, "without it, all instances are preferred")
    elif maximum is not None and preferred > maximum:
        message = f"preferred_count {preferred} is greater than the maximum of scaling, {maximum:g}"
        yield Diagnostic(at, Code.CONFLICT, message, "without it, all instances are preferred")


def _check_command(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    command = component.get("command")
    if isinstance(command, list) and command[:1] == [""]:
        yield Diagnostic(place + "/command/0", Code.BAD_FORMAT, "the first word of a command must be a program")


def _check_ports(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    ports = objects(component, "ports")
    yield from duplicates(((place + pointer("ports", i, "name"), text(p, "name")) for i, p in ports), "port")
    yield from duplicates(((place + pointer("ports", i, "number"), number(p, "number")) for i, p in ports), "port")
    for index, port in ports:
        if port.get("proxied") is True and port.get("protocol", "tcp") == "tcp":
            where = place + pointer("ports", index, "proxied")
            yield Diagnostic(where, Code.CONFLICT, "only http ports can be proxied", "add 'protocol': 'http'")
        if isinstance(port.get("sign_in"), dict):
            yield from _check_sign_in(place + pointer("ports", index, "sign_in"), port)


def _check_sign_in(where: str, port: dict[str, Any]) -> Iterator[Diagnostic]:
    if port.get("proxied") is not True:
        yield Diagnostic(where, Code.CONFLICT, "Zoe can sign in only at proxied ports", "add 'proxied': true")
    header = text(port["sign_in"], "header") or ""
    if header.lower() in RESERVED_HEADERS or header.lower().startswith(RESERVED_PREFIXES):
        yield Diagnostic(where + "/header", Code.CONFLICT, f"{header[:64]} is reserved for the proxy")


def _check_scaling(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    if not isinstance(component.get("scaling"), dict):
        return
    place, scaling = place + "/scaling", component["scaling"]
    kinds = [kind for kind in ("cpu", "query", "port", "spark") if scaling.get(kind) is not None]
    if len(kinds) != 1:
        yield Diagnostic(place, Code.CONFLICT, "scaling needs exactly one of 'cpu', 'query', 'port' and 'spark'")
    if "path" in scaling and "port" not in kinds:
        yield Diagnostic(place + "/path", Code.CONFLICT, "'path' is allowed with 'port' only")
    if "per_instance" in scaling and "cpu" in kinds:
        yield Diagnostic(place + "/per_instance", Code.CONFLICT, "'per_instance' is not for 'cpu'")
    if component.get("ends_application") is True:
        yield Diagnostic(place, Code.CONFLICT, "a component that ends the application has one instance")
    essential = number(component, "essential_count") if "essential_count" in component else 1
    low, high = number(scaling, "minimum"), number(scaling, "maximum")
    least = max(essential or 1, 1)
    if high is not None and high < max(low or least, least):
        message = f"maximum {high} is less than the {max(low or least, least)} that it has at least"
        yield Diagnostic(place + "/maximum", Code.CONFLICT, message)
    if low is not None and low < least:
        yield Diagnostic(place + "/minimum", Code.CONFLICT, f"{least} instances are essential, and stay")
    yield from _check_http_port(place + "/port", component, text(scaling, "port"))


def _check_progress(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    if not isinstance(component.get("progress"), dict):
        return
    place, progress = place + "/progress", component["progress"]
    kinds = [kind for kind in ("file", "port", "spark") if progress.get(kind) is not None]
    if len(kinds) != 1:
        yield Diagnostic(place, Code.CONFLICT, "progress needs exactly one of 'file', 'port' and 'spark'")
    if "path" in progress and "port" not in kinds:
        yield Diagnostic(place + "/path", Code.CONFLICT, "'path' is allowed with 'port' only")
    for kind in ("port", "spark"):
        yield from _check_http_port(f"{place}/{kind}", component, text(progress, kind))


def _check_http_port(place: str, component: dict[str, Any], named: str | None) -> Iterator[Diagnostic]:
    ports = {text(port, "name"): port for _, port in objects(component, "ports")}
    if named is not None and named not in ports:
        hint = did_you_mean(named, [name for name in ports if name])
        yield Diagnostic(place, Code.UNKNOWN_REFERENCE, f"the component has no port {named!r}", hint)
    elif named is not None and ports[named].get("protocol", "tcp") != "http":
        yield Diagnostic(place, Code.CONFLICT, f"port {named!r} is not an http port")


def _check_readiness(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    if not isinstance(component.get("readiness"), dict):
        return
    readiness = component["readiness"]
    kinds = [kind for kind in ("tcp", "http") if readiness.get(kind) is not None]
    if len(kinds) != 1:
        yield Diagnostic(place + "/readiness", Code.CONFLICT, "readiness needs exactly one of 'tcp' and 'http'")
    if "path" in readiness and "http" not in kinds:
        yield Diagnostic(place + "/readiness/path", Code.CONFLICT, "'path' is allowed with 'http' only")
    names = [name for _, port in objects(component, "ports") if (name := text(port, "name"))]
    for kind in kinds:
        name = text(readiness, kind)
        if name is not None and name not in names:
            message = f"this component has no port {name[:64]!r}"
            yield Diagnostic(
                place + pointer("readiness", kind), Code.UNKNOWN_REFERENCE, message, did_you_mean(name, names)
            )


def _check_volumes(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    targets: set[str] = set()
    for index, volume in objects(component, "volumes"):
        where = place + pointer("volumes", index)
        if (volume.get("name") is None) == (volume.get("host_path") is None):
            yield Diagnostic(where, Code.CONFLICT, "a volume needs exactly one of 'name' and 'host_path'")
        target = plain_path(text(volume, "target") or "/")
        if target != "/" and target in targets:
            yield Diagnostic(where + "/target", Code.DUPLICATE, "another volume has the same target")
        targets.add(target)


def _check_secrets(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    files: list[tuple[str, str | None]] = []
    variables: list[tuple[str, str | None]] = []
    set_already = mapping(component, "environment")
    for index, secret in objects(component, "secrets"):
        where, variable = place + pointer("secrets", index), text(secret, "variable")
        if variable is None:
            files.append((where, text(secret, "file") or text(secret, "name")))
            continue
        variables.append((where + "/variable", variable))
        if secret.get("file") is not None:
            yield Diagnostic(where, Code.CONFLICT, "give a secret 'file' or 'variable', not both")
        if variable in RESERVED_VARIABLES or variable.startswith(RESERVED_VARIABLE_PREFIXES):
            message, hint = f"{variable[:64]} is not for secrets: Zoe or the loader of programs reads it", "use `file`"
            yield Diagnostic(where + "/variable", Code.CONFLICT, message, hint)
        if variable in set_already:
            yield Diagnostic(where + "/variable", Code.CONFLICT, f"`environment` sets {variable[:64]} too")
    yield from duplicates(files, "secret")
    yield from duplicates(variables, "secret")


def _check_limits(place: str, resources: dict[str, Any]) -> Iterator[Diagnostic]:
    limits = mapping(resources, "limits")
    for key, default in (("memory", None), ("cores", 1)):
        reserved, limit = _amount(resources.get(key, default)), _amount(limits.get(key))
        if reserved is not None and limit is not None and limit < reserved:
            yield Diagnostic(f"{place}/limits/{key}", Code.CONFLICT, f"the {key} limit is below the reservation")


def _check_files(place: str, files: dict[str, Any]) -> Iterator[Diagnostic]:
    directories = {name[: match.start()] for name in files for match in re.finditer("/", name)}
    for name in sorted(directories & files.keys()):
        message = f"{name[:64]} is a file, and the directory of another one"
        yield Diagnostic(place + pointer("files", name), Code.CONFLICT, message)


def _check_requirements(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    lines = component.get("requirements")
    texts = [(i, line) for i, line in enumerate(lines) if isinstance(line, str)] if isinstance(lines, list) else []
    packages: list[tuple[str, str | None]] = []
    for index, line in texts[: bounds.REQUIREMENTS_MAX]:
        with contextlib.suppress(ValueError):  # the structural finding says so
            packages.append((place + pointer("requirements", index), package_of(line)))
    yield from duplicates(packages, "package")
    if component.get("build_requirements") is True and not lines:
        where = place + "/build_requirements"
        yield Diagnostic(where, Code.CONFLICT, "there is nothing to build", "add `requirements`")


def _check_sources(place: str, component: dict[str, Any]) -> Iterator[Diagnostic]:
    directories: list[tuple[str, str]] = []
    for index, source in objects(component, "sources"):
        where, url, into = place + pointer("sources", index), text(source, "git") or "", text(source, "into")
        if is_ssh(url) and source.get("secret") is None:
            hint = "name the secret with the private key as `secret`"
            yield Diagnostic(where, Code.CONFLICT, "ssh:// needs a private key", hint)
        with contextlib.suppress(ValueError):  # the structural finding says so
            url = git_url(url)
            try:
                directories.append((where, into or default_directory(url)))
            except ValueError as error:
                yield Diagnostic(where + "/git", Code.BAD_FORMAT, str(error))
    for index, (where, into) in enumerate(directories):
        for _, other in directories[:index]:
            if f"{into}/".startswith(f"{other}/") or f"{other}/".startswith(f"{into}/"):
                message = f"{into[:64]} and {other[:64]} are not different directories beside each other"
                yield Diagnostic(where, Code.CONFLICT, message, "give each an `into` of its own")


def _amount(value: object) -> float | None:
    if isinstance(value, str):
        try:
            return bytes_of(value[:64])
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
