"""Address templates such as `{host:master}` in texts of a Component; back-ends fill them when they start a service.

One description runs on every back-end because it never holds an address, only templates:

| template                     | filled with                                                            |
|------------------------------|------------------------------------------------------------------------|
| `{host:self}`                | address of the service itself                                          |
| `{host:COMPONENT}`           | address of the first instance (index 0) of that component              |
| `{hosts:COMPONENT}`          | addresses of its started instances, comma separated, in order of index |
| `{addresses:COMPONENT.NAME}` | the same as HOST:PORT, with the port of that name at each              |
| `{port:NAME}`                | number of the service's own port of that name                          |
| `{port:COMPONENT.NAME}`      | number of that port at the first instance of that component            |
| `{scratch}`                  | a private directory that goes with the service                         |
| `{files}`                    | the directory with the component's files                               |
| `{workspace}`                | the user's directory in the tenant, which stays                        |
| `{shared}`                   | the directory of all users of the tenant, which stays                  |
| `{index}`                    | index of the service within its component; in an array, that of the    |
|                              | array                                                                  |
| `{instance}`                 | index of the service within its component, in an array, too            |
| `{execution}`                | id of the execution                                                    |
| `{attempt}`                  | number of the attempt of the execution, from 1                         |
| `{user}`                     | name of the user who submitted it                                      |
| `{secrets}`                  | the directory with the secrets that the component asks for             |
| `{secret_file}`              | a file with the secret of the proxy's sign-in at its ports             |
| `{input:NAME}`               | where that input is read: its `uri`, or that of its view               |
| `{columns:NAME}`             | the columns of its view, comma separated; empty for the plain objects  |
| `{output:NAME}`              | the `uri` of that output                                               |
| `{each:NAME}`                | in a step with `for_each`: the entry, or a field of it as              |
|                              | `{each:NAME.FIELD}`; filled when the execution is made                 |

`{{` and `}}` stand for literal braces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum

from zoe_lib.domain.values.frozen import value

SELF = "self"
"""Name of the service itself in `{host:self}`; no component may have it."""


class TemplateKind(StrEnum):
    """Kinds of templates."""

    HOST = "host"
    HOSTS = "hosts"
    ADDRESSES = "addresses"
    PORT = "port"
    SCRATCH = "scratch"
    FILES = "files"
    WORKSPACE = "workspace"
    SHARED = "shared"
    INDEX = "index"
    INSTANCE = "instance"
    EXECUTION = "execution"
    ATTEMPT = "attempt"
    USER = "user"
    SECRETS = "secrets"
    SECRET_FILE = "secret_file"  # noqa: S105 - its name
    INPUT = "input"
    COLUMNS = "columns"
    OUTPUT = "output"
    EACH = "each"


OF_ALL_INSTANCES = frozenset({TemplateKind.HOSTS, TemplateKind.ADDRESSES})
"""Kinds that list the started instances of a component; the list may be empty."""
OF_STORAGE = frozenset({TemplateKind.INPUT, TemplateKind.COLUMNS, TemplateKind.OUTPUT})
"""Kinds that refer to the storage section."""


@value(frozen=True, slots=True)
class Template:
    """One template in a text. `component` None is the service itself; `port` is set for ports only.

    `data` is the name of an input or output, or of an entry; `field` is the name of an entry's field.
    """

    kind: TemplateKind
    component: str | None = None
    port: str | None = None
    data: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        match self.kind:
            case TemplateKind.HOST | TemplateKind.HOSTS:
                return f"{{{self.kind}:{self.component or SELF}}}"
            case TemplateKind.PORT:
                owner = f"{self.component}." if self.component else ""
                return f"{{port:{owner}{self.port}}}"
            case TemplateKind.ADDRESSES:
                return f"{{addresses:{self.component or SELF}.{self.port}}}"
            case TemplateKind.INPUT | TemplateKind.COLUMNS | TemplateKind.OUTPUT:
                return f"{{{self.kind}:{self.data}}}"
            case TemplateKind.EACH:
                field = f".{self.field}" if self.field else ""
                return f"{{each:{self.data}{field}}}"
            case _:
                return f"{{{self.kind}}}"


class TemplateError(ValueError):
    """A text contains an unknown template or a single brace; `offset` is its position in characters."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def references(text: str) -> list[Template]:
    """Return all templates of a text in order, including repetitions; TemplateError for an unknown one."""
    return [piece for piece in _pieces(text) if isinstance(piece, Template)]


def fill(text: str, resolve: Callable[[Template], str]) -> str:
    """Return the text with each template replaced by `resolve(template)`, whose result is not expanded again."""
    return "".join(resolve(piece) if isinstance(piece, Template) else piece for piece in _pieces(text))


def rename(text: str, new_name: Callable[[str], str]) -> str:
    """Return the text with the component of each template renamed; the rest is unchanged, including literal braces."""

    def text_of_piece(piece: Template) -> str:
        return str(piece if piece.component is None else replace(piece, component=new_name(piece.component)))

    return "".join(text_of_piece(piece) if isinstance(piece, Template) else escape(piece) for piece in _pieces(text))


def with_index(text: str, index: int) -> str:
    """Return the text with `{index}` filled in; the rest is unchanged, including literal braces."""
    if "{index}" not in text:
        return text

    def text_of_piece(piece: Template) -> str:
        return str(index) if piece.kind is TemplateKind.INDEX else str(piece)

    return "".join(text_of_piece(piece) if isinstance(piece, Template) else escape(piece) for piece in _pieces(text))


def with_entry(text: str, chosen: Callable[[str | None], str]) -> str:
    """Return the text with the entry of a list filled in as literal text: `chosen(FIELD)` returns one of its fields,
    and `chosen(None)` the whole entry; the rest is unchanged.
    """
    if "{each:" not in text:
        return text

    def text_of_piece(piece: Template) -> str:
        return escape(chosen(piece.field)) if piece.kind is TemplateKind.EACH else str(piece)

    return "".join(text_of_piece(piece) if isinstance(piece, Template) else escape(piece) for piece in _pieces(text))


def escape(text: str) -> str:
    """Return the text with doubled braces, so that `fill` returns the original text."""
    return text.replace("{", "{{").replace("}", "}}")


_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"  # a DNS label
_ADDRESS = re.compile(rf"(host|hosts):({_NAME})")
_PORT = re.compile(rf"port:(?:({_NAME})\.)?({_NAME})")
_ADDRESSES = re.compile(rf"addresses:({_NAME})\.({_NAME})")
_DATA = re.compile(rf"({'|'.join(sorted(OF_STORAGE))}):({_NAME})")
_EACH = re.compile(rf"each:({_NAME})(?:\.([A-Za-z0-9_][A-Za-z0-9_-]{{0,62}}))?")
_PLAIN = frozenset(
    {
        TemplateKind.SCRATCH,
        TemplateKind.FILES,
        TemplateKind.WORKSPACE,
        TemplateKind.SHARED,
        TemplateKind.INDEX,
        TemplateKind.INSTANCE,
        TemplateKind.EXECUTION,
        TemplateKind.ATTEMPT,
        TemplateKind.USER,
        TemplateKind.SECRETS,
        TemplateKind.SECRET_FILE,
    }
)


def _pieces(text: str) -> Iterator[str | Template]:
    """Yield literal texts and templates in order."""
    end = 0
    for token in _TOKEN.finditer(text):
        yield text[end : token.start()]
        yield _piece(token)
        end = token.end()
    yield text[end:]


def _piece(token: re.Match[str]) -> str | Template:
    whole, inner = token.group(), token.group(1)
    if inner is not None:
        return _template(inner, token.start())
    if len(whole) == 2:
        return whole[0]
    raise TemplateError(f"a single {whole!r} is not allowed; write {whole * 2!r} for a literal brace", token.start())


def _template(inner: str, offset: int) -> Template:
    if inner in _PLAIN:
        return Template(TemplateKind(inner))
    if address := _ADDRESS.fullmatch(inner):
        kind, component = address.groups()
        return Template(TemplateKind(kind), _is_other_template(component))
    if port := _PORT.fullmatch(inner):
        component, name = port.groups()
        return Template(TemplateKind.PORT, _is_other_template(component), name)
    if addresses := _ADDRESSES.fullmatch(inner):
        component, name = addresses.groups()
        return Template(TemplateKind.ADDRESSES, _is_other_template(component), name)
    if data := _DATA.fullmatch(inner):
        kind, name = data.groups()
        return Template(TemplateKind(kind), data=name)
    if each := _EACH.fullmatch(inner):
        name, field = each.groups()
        return Template(TemplateKind.EACH, data=name, field=field)
    raise TemplateError(f"unknown template {'{' + inner[:64] + '}'!r}", offset)


def _is_other_template(component: str | None) -> str | None:
    return None if component == SELF else component
