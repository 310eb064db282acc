"""Read an input of a Zoe application as an Arrow table, without Spark: the store sends only what is asked for.

    from zoe_arrow import zoe_input
    table = zoe_input("meters", columns=["id"], filters=[("kwh", ">", 90)], types={"id": "long", "kwh": "double"})

Every service of an application with inputs finds this module. It needs only pyarrow. Lines that the store narrows keep
the width of the object, so that the same parser reads them with pushdown and without.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import operator as op
import os
import re
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote
from xml.etree import ElementTree

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

_INPUTS, _CONFIGURATION = "ZOE_INPUTS", "HADOOP_CONF_DIR"
_SCHEME = "swift2d://"
_SERVICE = "fs.swift2d.service"
_HTTP = ("http://", "https://")
_TIMEOUT_S = 300
"""As long as Stocator waits; a selection answers when it has found its first rows."""
_PAGE = 10_000
_AT_ONCE = 4
_HEADER_BYTES = 128 * 1024
_PUSHDOWN = "X-Zoe-Pushdown"
_DIGITS_MAX = 38
_IN_COLUMN = re.compile(r"In CSV column #(\d+): ")
_SIGNS = {"=": "=", "==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MEMBERSHIP = ("in", "not in")
_TEXT, _TRUTH, _DAY, _TIME = "string", "boolean", "date", "timestamp"
Test = tuple[str, str, Any]
Filters = Sequence[Test] | Sequence[Sequence[Test]]
Alternatives = list[list[Test]]


class InputError(ValueError):
    """An input cannot be read; the message says why."""


def zoe_input(
    name: str,
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    types: Mapping[str, str] | None = None,
    pushdown: bool = True,
) -> pa.Table:
    """Return the wanted columns of the wanted rows of an input at `swift2d://`, as an Arrow table in memory.

    columns: their names (None: all). filters: as in pandas, such as `[("kwh", ">", 90)]`. types: Spark's names, such as
    `long`, `double`, `date` or `decimal(10,2)`; a column without a type is text, never guessed. pushdown: False reads
    whole objects. Both ways give the same table. A malformed line, or a field that is not of its type, is an error only
    if it is read. Raises InputError, ValueError for filters that do not fit, and ImportError without pyarrow.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise ImportError("zoe_arrow needs pyarrow: add it to the packages of this program") from None
    source, groups = _declared_input(name), alternatives(filters)
    known = {**source.types, **(types or {})}
    if isinstance(columns, str):
        raise ValueError(f"columns is a list of names, such as [{columns!r}]")
    store = _Store(source)
    objects = list(store.objects())
    if not objects:
        raise InputError(f"there are no objects at the input {name}")
    names = source.names or _header(store, source, objects[0])
    wanted = list(columns) if columns is not None else list(names)
    needed = list(dict.fromkeys([*wanted, *columns_of(groups)]))
    if missing := [entry for entry in [*needed, *known] if entry not in names]:
        raise InputError(f"there is no column {', '.join(missing)}; the columns are {', '.join(names)}")
    check_types(groups, known)
    scan = _Scan(source, tuple(names), tuple(needed), groups, known, pushdown)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        tables = list(pool.map(lambda entry: scan.table(store, entry), objects))
    return pa.concat_tables(tables).select(wanted)


@dataclass(frozen=True, slots=True)
class _Scan:
    source: _Input
    names: tuple[str, ...]
    needed: tuple[str, ...]
    groups: Alternatives
    types: Mapping[str, str]
    pushdown: bool

    def table(self, store: _Store, listed: _Object) -> pa.Table:
        headers = {_PUSHDOWN: self._selection(listed)} if self.pushdown and not _is_packed(listed) else {}
        why = "the store has no filters of Zoe"
        try:
            answer = store.read(listed, headers)
        except InputError as error:  # such as a store that is busy
            if not headers:
                raise
            why, answer = str(error), store.read(listed, {})
        if answer.headers.get(_PUSHDOWN) == "yes":
            found = self._parse(listed, gzip.decompress(answer.content), header=False)
        else:
            if headers:
                store.say_once(f"zoe_arrow reads whole objects: {why}")
            content = gzip.decompress(answer.content) if _is_packed(listed) else answer.content
            found = self._parse(listed, content, header=self.source.csv["header"] == "true")
        return found.filter(expression(self.groups)) if self.groups else found

    def _selection(self, listed: _Object) -> str:
        at = {name: position for position, name in enumerate(self.names)}
        csv_ = self.source.csv
        asked: dict[str, Any] = {
            "width": len(self.names),
            "columns": sorted(at[name] for name in self.needed),
            "start": 0,
            "end": listed.size,
            "padded": True,
            "csv": {
                "delimiter": csv_["sep"],
                "quote": csv_["quote"],
                "escape": csv_["escape"],
                "header": csv_["header"] == "true",
                "null_text": csv_["nullValue"],
            },
        }
        if condition := where(self.groups, at):
            compared = {f"c{at[name]}": self.types.get(name, "string") for name in columns_of(self.groups)}
            asked |= {"where": condition, "types": compared}
        return json.dumps(asked)

    def _parse(self, listed: _Object, content: bytes, *, header: bool) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        fields = [pa.field(name, _arrow_type(self.types.get(name, "string"))) for name in self.needed]
        if not content.strip():
            return pa.schema(fields).empty_table()
        csv_ = self.source.csv
        parse = arrow_csv.ParseOptions(
            delimiter=csv_["sep"],
            quote_char=csv_["quote"],
            double_quote=True,
            escape_char=False if csv_["escape"] == csv_["quote"] else csv_["escape"],
        )
        convert = arrow_csv.ConvertOptions(
            column_types=pa.schema(fields),
            include_columns=list(self.needed),
            null_values=list({"", csv_["nullValue"]}),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
        )
        reading = arrow_csv.ReadOptions(column_names=list(self.names), skip_rows=1 if header else 0)
        try:
            return arrow_csv.read_csv(io.BytesIO(content), reading, parse, convert)
        except pa.ArrowInvalid as error:
            raise InputError(f"{listed.name}: {self._named(str(error))}") from None

    def _named(self, error: str) -> str:
        """Return Arrow's error with the name of the column instead of its number, and a way on."""
        found = _IN_COLUMN.match(error)
        if found is None:
            return error
        hint = "give the column another type, or name the text that stands for null as `csv.null_text` of the input"
        return f"column {self.names[int(found[1])]}: {error[found.end() :]}; {hint}"


def _header(store: _Store, source: _Input, first: _Object) -> tuple[str, ...]:
    if source.csv["header"] != "true":
        raise InputError("the objects have no header: name all columns in `csv.names` of the input")
    content = store.read(first, {} if _is_packed(first) else {"Range": f"bytes=0-{_HEADER_BYTES - 1}"}).content
    text = (gzip.decompress(content) if _is_packed(first) else content).decode("utf-8-sig", "replace")
    return tuple(next(csv.reader(text.splitlines(), delimiter=source.csv["sep"], quotechar=source.csv["quote"])))


def _is_packed(listed: _Object) -> bool:
    return listed.name.endswith(".gz")


def _arrow_type(name: str) -> pa.DataType:
    """Return Arrow's type for a type of a description. Raises ValueError."""
    import pyarrow as pa

    plain = {
        "string": pa.string(), "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "int": pa.int32(),
        "long": pa.int64(), "float": pa.float32(), "double": pa.float64(), "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
    }  # fmt: skip
    if name in plain:
        return plain[name]
    digits = name.removeprefix("decimal(").removesuffix(")").split(",")
    if name.startswith("decimal(") and len(digits) == 2 and all(part.strip().isdecimal() for part in digits):
        precision, scale = map(int, digits)
        if 0 < precision <= _DIGITS_MAX and scale <= precision:
            return pa.decimal128(precision, scale)
    raise ValueError(f"{name!r} is not a type; types: {', '.join(plain)}, decimal(p,s)")


@dataclass(frozen=True, slots=True)
class _Login:
    """Address of Swift's sign-in (v1), with user and key."""

    url: str
    user: str
    key: str


@dataclass(frozen=True, slots=True)
class _Input:
    """An input: the container and the prefix, all columns in order (empty: those of the header), types of columns."""

    container: str
    prefix: str
    names: tuple[str, ...]
    types: Mapping[str, str]
    csv: Mapping[str, str]
    login: _Login


def _declared_input(name: str) -> _Input:
    """Return the input of that name. Raises InputError."""
    if _INPUTS not in os.environ:
        raise InputError(
            "this program does not run in an execution of Zoe with inputs: declare them in `storage.inputs`"
        )
    known = json.loads(Path(os.environ[_INPUTS]).read_text("utf-8"))
    if name not in known:
        raise InputError(f"there is no input {name}; inputs: {', '.join(sorted(known)) or 'none'}")
    entry = known[name]
    if not entry["uri"].startswith(_SCHEME) or entry["select"] or entry["where"]:
        why = f"is at {entry['uri']}" if not entry["uri"].startswith(_SCHEME) else "has a `pushdown` in its description"
        raise InputError(f"input {name} {why}; only inputs at {_SCHEME} without one can be read here")
    place, _, prefix = entry["uri"].removeprefix(_SCHEME).partition("/")
    container, _, service = place.rpartition(".")
    return _Input(container, prefix, tuple(entry["names"]), entry["types"], entry["csv"], _login(service))


def _login(service: str) -> _Login:
    lacks = InputError(f"there is no credential for the service {service}: see `zoe storage credentials`")
    if _CONFIGURATION not in os.environ:
        raise lacks
    directory = Path(os.environ[_CONFIGURATION])
    found = {
        entry.findtext("name", ""): entry.findtext("value", "")
        for entry in ElementTree.parse(directory / "core-site.xml").iter("property")  # noqa: S314 - Zoe's own
    }
    lines = (directory / "spark-defaults.conf").read_text("utf-8").splitlines()
    settings = dict(line.split(" ", 1) for line in lines if " " in line)
    try:
        url = settings[f"spark.hadoop.{_SERVICE}.{service}.auth.url"]
        return _Login(url, found[f"{_SERVICE}.{service}.username"], found[f"{_SERVICE}.{service}.password"])
    except KeyError:
        raise lacks from None


@dataclass(frozen=True, slots=True)
class _Answer:
    """Headers and content of an answer."""

    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class _Object:
    """An object as it was listed."""

    name: str
    size: int
    etag: str


class _Store:
    """The container of an input, after a sign-in. Raises InputError."""

    def __init__(self, source: _Input) -> None:
        self._source = source
        self._root, self._token = _sign_in(source.login)
        self._said = threading.Event()

    def objects(self) -> Iterator[_Object]:
        """Yield the objects that Spark would read: directly below the prefix, neither empty nor hidden."""
        prefix = self._source.prefix.rstrip("/")
        marker = ""
        while True:
            query = f"?format=json&limit={_PAGE}&prefix={quote(prefix)}&marker={quote(marker)}"
            found = json.loads(self._get(self._source.container + query, {}).content or b"[]")
            for entry in found:
                rest = entry["name"].removeprefix(prefix).removeprefix("/")
                name = rest or entry["name"].rpartition("/")[2]
                below = entry["name"] == prefix or not prefix or entry["name"].startswith(f"{prefix}/")
                if below and "/" not in rest and entry["bytes"] and not name.startswith((".", "_")):
                    yield _Object(entry["name"], entry["bytes"], (entry.get("slo_etag") or entry["hash"]).strip('"'))
            if len(found) < _PAGE:
                return
            marker = found[-1]["name"]

    def read(self, listed: _Object, headers: Mapping[str, str]) -> _Answer:
        """Return the answer for a listed object. Raises InputError if it has changed since."""
        answer = self._get(f"{self._source.container}/{quote(listed.name)}", headers)
        if not answer.headers.get("Etag", "").strip('"').startswith(listed.etag):
            raise InputError(f"{listed.name} was written again while it was read: read it once more")
        return answer

    def say_once(self, line: str) -> None:
        """Print a line on standard error, if none was printed for this input."""
        if not self._said.is_set():
            self._said.set()
            print(line, file=sys.stderr)

    def _get(self, path: str, headers: Mapping[str, str]) -> _Answer:
        request = urllib.request.Request(f"{self._root}/{path}", headers={"X-Auth-Token": self._token, **headers})  # noqa: S310
        return _answer(request, path)


def _sign_in(login: _Login) -> tuple[str, str]:
    if not login.url.startswith(_HTTP):
        raise InputError(f"{login.url} is not an address of a sign-in over HTTP")
    request = urllib.request.Request(login.url, headers={"X-Auth-User": login.user, "X-Auth-Key": login.key})  # noqa: S310
    answer = _answer(request, "the sign-in")
    return answer.headers["X-Storage-Url"], answer.headers["X-Auth-Token"]


def _answer(request: urllib.request.Request, what: str) -> _Answer:
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - checked
            return _Answer({name.title(): value for name, value in answer.headers.items()}, answer.read())
    except urllib.error.HTTPError as error:
        said = error.read(1000).decode(errors="replace").strip()
        text = error.reason if said.startswith("<") else said
        raise InputError(f"{what.partition('?')[0]}: the store answers {error.code} {text}") from None
    except OSError as error:
        raise InputError(f"{what}: the store cannot be reached: {error}") from None


def alternatives(filters: Filters | None) -> Alternatives:
    """Return the filters as alternatives of conjunctions. Raises ValueError."""
    if not filters:
        return []
    single = isinstance(filters[0], tuple) and bool(filters[0]) and isinstance(filters[0][0], str)
    groups = [list(cast("Sequence[Test]", filters))] if single else [list(group) for group in filters]
    for test in (test for group in groups for test in group):
        if not isinstance(test, tuple) or len(test) != 3 or test[1] not in (*_SIGNS, *_MEMBERSHIP):
            known = ", ".join((*_SIGNS, *_MEMBERSHIP))
            raise ValueError(f"{test!r} is not (column, operator, value), with one of the operators {known}")
        listed = isinstance(test[2], Collection) and not isinstance(test[2], str)
        if (test[1] in _MEMBERSHIP) != listed or (listed and not test[2]):
            raise ValueError(f"{test[0]} {test[1]}: give {'a list of values' if test[1] in _MEMBERSHIP else 'a value'}")
    return cast("Alternatives", groups)


def columns_of(groups: Alternatives) -> list[str]:
    """Return the columns that are compared."""
    return list(dict.fromkeys(test[0] for group in groups for test in group))


def check_types(groups: Alternatives, types: Mapping[str, str]) -> None:
    """Raise ValueError if a column is compared with a value that is not of its type."""
    for column, operator, given in (test for group in groups for test in group):
        type_ = types.get(column, _TEXT)
        for value in given if operator in _MEMBERSHIP else [given]:
            if not _fits(value, type_):
                raise ValueError(f"{column} is a {type_}, and {value!r} is not{_advice(column, value, types)}")


def _advice(column: str, value: object, types: Mapping[str, str]) -> str:
    if value is None:
        return ": filters find no nulls; filter the table instead"
    if types.get(column) in (_DAY, _TIME):
        return f": give a datetime.{'date' if types[column] == _DAY else 'datetime'}"
    if column in types:
        return ""
    names = {bool: _TRUTH, int: "long", float: "double", date: _DAY, datetime: _TIME}
    return f': give its type, such as types={{"{column}": "{names.get(type(value), "double")}"}}'


def _fits(value: object, type_: str) -> bool:
    if type_ == _TEXT:
        return isinstance(value, str)
    if type_ == _TRUTH:
        return isinstance(value, bool)
    if type_ in (_DAY, _TIME):
        return type(value) is (date if type_ == _DAY else datetime)
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def where(groups: Alternatives, positions: Mapping[str, int]) -> str:
    """Return a condition of the store that holds for at least the rows of the filters; columns are `c0`, `c1`, ..."""
    texts = [" and ".join(filter(None, (_text(test, positions) for test in group))) for group in groups]
    return " or ".join(f"({text})" for text in texts) if all(texts) else ""


def _text(test: Test, positions: Mapping[str, int]) -> str:
    """Return the condition of one test; empty if the store has none."""
    column, operator, value = test
    name = f"c{positions[column]}"
    literals = [_literal(entry) for entry in (value if operator in _MEMBERSHIP else [value])]
    if not all(literals):
        return ""
    if operator in _MEMBERSHIP:
        tests = " or ".join(f"{name} = {literal}" for literal in literals)
        return f"({tests})" if operator == "in" else f"not ({tests})"
    return f"{name} {_SIGNS[operator]} {literals[0]}"


def _literal(value: object) -> str:
    """Return the store's literal; empty if there is none."""
    if isinstance(value, bool):
        return "'true'" if value else "'false'"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if abs(value) < 1e300 else ""  # neither infinite nor NaN
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'" if value.isprintable() else ""
    return f"'{value.isoformat()}'" if type(value) is date else ""


def expression(groups: Alternatives) -> pc.Expression:
    """Return the expression of Arrow."""
    return reduce(op.or_, (reduce(op.and_, map(_term, group)) for group in groups))


def _term(test: Test) -> pc.Expression:
    import pyarrow.compute as pc

    column, operator, value = test
    field = pc.field(column)
    if operator in _MEMBERSHIP:
        found = field.isin(list(cast("Iterable[Any]", value)))
        return found if operator == "in" else ~found & field.is_valid()
    compare = {"=": op.eq, "!=": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}[_SIGNS[operator]]
    return compare(field, pc.scalar(value))
