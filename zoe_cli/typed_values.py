"""Name options and arguments in errors, instead of places in requests that a command wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from zoe_client.errors import Refused

if TYPE_CHECKING:
    import typer

# Places in requests, and the options of commands whose values come there.
_OPTIONS_OF_PLACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        r"/components/\d+/resources/memory": ("--memory", "--mem", "--driver-memory"),
        r"/components/\d+/resources/cores": ("--cores", "--cpus-per-task", "--driver-cores"),
        r"/frameworks/\d+/parameters/worker_memory": ("--executor-memory", "--memory"),
        r"/frameworks/\d+/parameters/worker_cores": ("--executor-cores", "--cores"),
        r"/frameworks/\d+/parameters/(driver|notebook)_memory": ("--driver-memory", "--memory"),
        r"/frameworks/\d+/parameters/workers?": ("--num-executors", "--workers"),
        r"/components/\d+/(essential|total|preferred)_count": ("--workers", "--nodes", "--ntasks"),
        r"/components/\d+/sources/\d+/\w+": ("--git",),
        r"/components/\d+/image": ("--image",),
        r"/components/\d+/requirements(/\d+)?": ("--with", "--requirements", "--pip"),
        r"/components/\d+/environment/.*": ("--env",),
        r"/components/\d+/secrets/\d+/\w+": ("--secret",),
        r"/results(/\d+)?": ("--result",),
        r"/retries": ("--retries",),
        r"/time_limit_s": ("--time-limit", "--time"),
        r"/(body/)?priority": ("--priority", "--nice"),
        r"/(body/)?name": ("--name", "--job-name"),
        r"(/body)?/?indices": ("--array",),
        r"(/body)?/?deadline(_s)?": ("--deadline", "--finish-by"),
        r"(/body)?/?begin_at_s": ("--begin",),
        r"(/body)?/?after(/\d+)?": ("--after", "--dependency"),
        r"(/body)?/?(share|shares)(/\d+)?(/\w+)?": ("--share",),
        r"/body/amounts/cores_milli": ("--cores",),
        r"/body/amounts/memory_bytes": ("--memory",),
        r"/body/amounts/read_bytes_per_s": ("--read",),
        r"/body/amounts/write_bytes_per_s": ("--write",),
        r"/body/amounts/executions": ("--executions",),
        r"/body/(amounts/)?time_limit_s": ("--hours", "--time-limit"),
        r"/body/executions_max": ("--executions",),
        r"/body/executions_of_user_max": ("--of-user",),
    }
)

_OPTIONS_OF_SBATCH = frozenset(
    {"--mem", "--cpus-per-task", "--nice", "--job-name", "--array", "--time", "--dependency", "--nodes"}
    | {"--deadline", "--begin", "--image", "--env", "--secret", "--result"}
)

# Parts of a request around the values that a user gave.
_AROUND = ("body", "path", "query", "header")
_QUOTED = re.compile(r"^['\"](.*?)['\"]")


def name_options(context: Any, error: Refused) -> None:
    """Name in each finding the option, or the setting of `--set`, from which its value comes, instead of the place in
    the request.
    """
    given = {
        option for parameter in context.command.params if _is_given(context, parameter) for option in parameter.opts
    }
    if context.command.name == "sbatch":  # it parses its options itself, and each line of the script has such ones
        given |= _OPTIONS_OF_SBATCH
    settings = [text.partition("=")[0] for text in context.params.get("settings") or ()]
    for finding in error.problem.errors:
        names = [name for name in settings if _is_place_of(name, finding.pointer)]
        names += [
            one for place, of_it in _OPTIONS_OF_PLACES.items() if re.fullmatch(place, finding.pointer) for one in of_it
        ]
        shown = next((one for one in names if one in given or one in settings), "")
        finding.pointer = shown or _of_request(context, finding.pointer)


def name_option(context: Any, error: typer.BadParameter) -> None:
    """Name the option or argument whose value an error quotes first, unless the error names it already."""
    quoted = _QUOTED.match(error.message)
    if error.param is not None or error.param_hint is not None or quoted is None:
        return
    wrong = quoted[1]
    values = [(parameter, value) for parameter in context.command.params for value in _typed(context, parameter)]
    parts = [(parameter, part.strip()) for parameter, value in values for part in (*value.split(","), value[1:])]
    error.param = next((parameter for parameter, value in (*values, *parts) if value == wrong), None)


def _of_request(context: Any, place: str) -> str:
    """Return an argument or option for a part of a request's address or body, which the command wrote; the place
    itself in a document of the user's.
    """
    around, _, inside = place.removeprefix("/").partition("/")
    if around not in _AROUND or not place.startswith("/"):
        return place
    for parameter in context.command.params:
        if inside and (inside in (parameter.name, (parameter.metavar or "").lower())):
            return _shown(parameter)
        if place == "/path" and any("/" in value for value in _typed(context, parameter)):
            return _shown(parameter)
    return inside.replace("/", ".")


def _shown(parameter: Any) -> str:
    return str(parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar or parameter.name.upper())


def _typed(context: Any, parameter: Any) -> Iterator[str]:
    """Yield the texts that were typed for a parameter."""
    if _is_given(context, parameter):
        value = context.params.get(parameter.name)
        yield from map(str, value if isinstance(value, list | tuple) else [value])


def _is_given(context: Any, parameter: Any) -> bool:
    source = context.get_parameter_source(parameter.name)
    return source is not None and source.name == "COMMANDLINE"


def _is_place_of(setting: str, place: str) -> bool:
    """Return whether `main.resources.memory` may be at `/components/0/resources/memory`."""
    parts, wanted = setting.split("."), place.strip("/").split("/")
    return wanted == parts or (wanted[0] == "components" and len(parts) > 1 and wanted[2:] == parts[1:])
