"""Register commands; each also takes `-o`, so that `zoe ls -o json` and `zoe -o json ls` are the same."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption
from typer.exceptions import TyperException

from zoe_cli.context import options
from zoe_cli.lazy_group import without_types_of_flags
from zoe_cli.output import Format
from zoe_client.errors import NotFound, Refused

Command = Callable[..., None]
_FURTHER = "Further options"
NO_OTHERS: Mapping[str, str] = MappingProxyType({})
_EXECUTION_PARAMETERS = ("execution_id", "execution_ids")
# What an id is instead of an execution or an array, and what to do then.
_HINTS_OF_OTHER_KINDS: Mapping[str, str] = MappingProxyType(
    {
        " is an array, not an ": "`zoe array show ARRAY` lists its indices, `zoe explain ARRAY` says why they wait",
        " is a workflow, not an ": "`zoe workflow show WORKFLOW` lists its executions",
        " is an execution of an array": "`zoe show ID` shows the execution, `zoe array show ARRAY` its array",
        " is not the id of an array": "`zoe array ls` lists arrays, `zoe show ID` shows an execution",
        " of array ": "`zoe array show ARRAY` lists its indices; they are held, released and modified with their array",
        " has no index ": "`zoe array show ARRAY` lists its indices",
    }
)
_COMMANDS_THAT_ADD = ("add", "set", "put")
"""What these do not find is another kind of object than the one that their group lists."""

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
        r"/size(/run_time_s)?": ("--run-time",),
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

OutputOption = Annotated[Format | None, typer.Option("--output", "-o", help="Output format.", show_default=False)]


def usage_of(argument: Any) -> str:
    """Return an argument in a usage line: optional ones in brackets, repeatable ones with three dots."""
    name: str = argument.metavar or argument.name.upper()
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    if argument.nargs != 1 and "..." not in name:
        name += "..."
    return name if argument.required else f"[{name}]"


class UsageCommand(TyperCommand):
    """A command whose usage line has no braces."""

    everyday: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters whose options come first in the help; none: all in their order."""
    others: ClassVar[Mapping[str, str]] = NO_OTHERS
    """Options of another program, and what to write instead."""
    listed: ClassVar[str] = ""
    """The hint for an object that does not exist, if the command's group does not list such objects."""

    def __init__(self, *args: Any, help: str | None = None, **values: Any) -> None:  # noqa: A002 - Typer's name
        super().__init__(*args, help=help and joined_lines(help), **values)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; an option of another program is refused with what to write instead."""
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            option = getattr(error, "option_name", "")
            if option not in self.others:
                raise
            raise typer.BadParameter(self.others[option], ctx, param_hint=option) from None

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with those of every day first, and a heading for the others."""
        params = without_types_of_flags(super().get_params(ctx))
        if not self.everyday:
            return params
        for parameter in params:
            if isinstance(parameter, TyperOption) and parameter.name not in self.everyday:
                parameter.rich_help_panel = _FURTHER
        return sorted(params, key=self._place)

    def _place(self, parameter: Any) -> int:
        name = parameter.name
        return self.everyday.index(name) if name in self.everyday else len(self.everyday)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words after the command's name."""
        arguments = (parameter for parameter in self.get_params(ctx) if isinstance(parameter, TyperArgument))
        return ["[OPTIONS]", *(usage_of(argument) for argument in arguments if not argument.hidden)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command. The error for an object that does not exist names the command that lists such objects, and
        errors of values that were typed name their options.
        """
        try:
            return super().invoke(ctx)
        except Refused as error:
            add_hint(ctx, error)
            name_options(ctx, error)
            raise
        except typer.BadParameter as error:
            name_option(ctx, error)
            raise


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


def add_hint(context: Any, error: Refused) -> None:
    """Give the error for an object that a command did not find a hint, unless the server gave one."""
    if isinstance(error, NotFound):
        detail = error.problem.detail
        of_other_kind = next((hint for part, hint in _HINTS_OF_OTHER_KINDS.items() if part in detail), "")
        hint = error.problem.hint or of_other_kind or _hint_where_it_is_listed(context, detail)
        error.problem = error.problem.model_copy(update={"hint": hint})


def _hint_where_it_is_listed(context: Any, detail: str) -> str:
    """Return the hint for an object that a command did not find; empty if no command lists such objects. detail: what
    the server says of it.
    """
    if any(parameter.name in _EXECUTION_PARAMETERS for parameter in context.command.params):
        if " has no " in detail:  # such as a service, or a port
            shown = context.params.get("execution_id") or "ID"
            return f"`zoe show {shown}` lists the services of an execution"
        if " is not a member of " in detail:
            return "an admin adds members: `zoe admin role set USER TENANT user`"
        return "`zoe ls` lists executions, `zoe ls --help` shows how to choose among them"
    if context.command.listed:
        return str(context.command.listed)
    group = context.parent
    if group is None or group.parent is None or context.command.name in _COMMANDS_THAT_ADD:
        return ""
    lists = next((name for name in ("ls", "list") if group.command.get_command(group, name)), None)
    return f"`{group.command_path} {lists}` shows the names and ids" if lists else ""


def joined_lines(text: str) -> str:
    """Return a help text with each paragraph in one line, which terminals wrap; those after `\\b` keep their lines."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(part if part.startswith("\b") else " ".join(part.split("\n")) for part in paragraphs)


def add(
    app: typer.Typer,
    name: str,
    command: Command,
    examples: Sequence[str] = (),
    *,
    results: bool = True,
    options_first: bool = False,
    everyday: tuple[str, ...] = (),
    others: Mapping[str, str] = NO_OTHERS,
    listed: str = "",
    hidden: bool = False,
) -> None:
    """Add a command with examples in its help; `results`: its output has formats.

    `options_first`: everything after the first argument belongs to another program, including options. `everyday`:
    parameters whose options come first in the help. `others`: options of another program that people know, and what to
    write instead. `listed`: the hint for an object that does not exist, if the group does not list such objects.
    `hidden`: an earlier name, which help does not list.
    """
    epilog = "\n\n".join(("Examples:", *(f"  {example}" for example in examples))) if examples else None
    context = {"allow_interspersed_args": not options_first}
    own = {"everyday": everyday, "others": others, "listed": listed}
    kind = type("OwnCommand", (UsageCommand,), own) if any(own.values()) else UsageCommand
    register = app.command(name, cls=kind, epilog=epilog, context_settings=context, hidden=hidden)
    register(with_output(command) if results else command)


def with_output(command: Command) -> Command:
    """Return the same command with `-o`."""
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    own = [p.replace(annotation=hints[p.name]) for p in signature.parameters.values()]
    option = inspect.Parameter("output", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=OutputOption)

    @functools.wraps(command)
    def wrapper(context: typer.Context, *arguments: Any, output: Format | None = None, **named: Any) -> None:
        if output is not None:
            context.obj = replace(options(context), output=output)
        command(context, *arguments, **named)

    vars(wrapper).pop("__wrapped__")
    wrapper.__annotations__ = {**hints, "output": OutputOption}
    vars(wrapper)["__signature__"] = signature.replace(parameters=[*own, option])
    return wrapper
