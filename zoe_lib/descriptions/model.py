"""The description format, version 4, as pydantic models: the source of the JSON Schema and of the structural checks.

What needs two fields at once (duplicates, references, contradictions) is in `rules`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from zoe_lib.descriptions import bounds
from zoe_lib.descriptions import scalars as s


class Model(BaseModel):
    """Strict, closed and immutable: what is not in the format is an error."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Limits(Model):
    """What an instance may use at most; absent is the reservation."""

    memory: Annotated[s.Memory | None, Field(description="hard limit of memory")] = None
    cores: Annotated[s.Cores | None, Field(description="hard limit of cores")] = None


class Resources(Model):
    """What each instance reserves on its node."""

    memory: Annotated[s.Memory, Field(description="memory: bytes, or a text such as '2GiB'", examples=["2GiB"])]
    cores: Annotated[s.Cores, Field(description="cores, also parts of one, in steps of 0.001")] = 1.0
    limits: Annotated[Limits, Field(description="what it may use at most")] = Limits()
    shm: Annotated[s.Memory | None, Field(description="size of /dev/shm")] = None
    devices: Annotated[
        dict[s.DeviceKind, Annotated[int, Field(ge=1, le=bounds.DEVICES_MAX)]],
        Field(max_length=bounds.DEVICE_KINDS_MAX, description="whole devices by kind", examples=[{"gpu": 1}]),
    ] = {}


class SignIn(Model):
    """How Zoe's proxy signs in for users: with the secret that the program finds in `{secret_file}`."""

    header: Annotated[s.HeaderName, Field(description="the HTTP header that bears it")] = "Authorization"
    scheme: Annotated[s.HeaderScheme, Field(description="the word before the secret; empty: none")] = "Bearer"


class Port(Model):
    """A port that other components or users reach by its name."""

    name: Annotated[s.Label, Field(description="name for `{port:NAME}`, unique in the component")]
    number: Annotated[int, Field(ge=1, le=65535, description="its number inside a container")]
    protocol: Annotated[Literal["tcp", "http"], Field(description="what is spoken on it")] = "tcp"
    path: Annotated[s.UrlPath, Field(description="where a browser should start (http)")] = "/"
    proxied: Annotated[bool, Field(description="users may open it through Zoe (http only)")] = False
    sign_in: Annotated[SignIn | None, Field(description="how the proxy signs in (proxied only)")] = None


class Readiness(Model):
    """When an instance counts as ready: exactly one of `tcp` and `http` names a port that must answer."""

    tcp: Annotated[s.Label | None, Field(description="name of a port that must accept a connection")] = None
    http: Annotated[s.Label | None, Field(description="name of a port that must answer below 500")] = None
    path: Annotated[s.UrlPath, Field(description="what to ask for (http)")] = "/"
    interval_s: Annotated[s.ProbeSeconds, Field(description="seconds between two tries")] = 1.0
    timeout_s: Annotated[s.ProbeSeconds, Field(description="seconds until the start counts as failed")] = 120.0


class Volume(Model):
    """Storage mounted into each instance: exactly one of `name` and `host_path`."""

    name: Annotated[s.Label | None, Field(description="a named volume of the tenant")] = None
    host_path: Annotated[s.AbsolutePath | None, Field(description="a path the admin allows")] = None
    target: Annotated[s.AbsolutePath, Field(description="where it is mounted")]
    read_only: Annotated[bool, Field(description="mount without the right to write")] = False


class Component(Model):
    """One container template; the first `essential_count` instances are essential, the rest elastic."""

    name: Annotated[s.Label, Field(description="name, unique in the application; becomes a host name")]
    image: Annotated[s.Image, Field(description="container image", examples=["zoe/spark"])]
    command: Annotated[
        list[s.Argument],
        Field(max_length=bounds.ARGUMENTS_MAX, description="arguments given to the image instead of its own"),
    ] = []
    work_dir: Annotated[s.WorkDir | None, Field(description="directory to start in")] = None
    environment: Annotated[
        dict[s.VariableName, s.Argument],
        Field(max_length=bounds.VARIABLES_MAX, description="environment variables"),
    ] = {}
    volumes: Annotated[list[Volume], Field(max_length=bounds.VOLUMES_MAX, description="storage to mount")] = []
    resources: Annotated[Resources, Field(description="what each instance reserves")]
    essential_count: Annotated[s.Count, Field(description="instances without which there is no useful work")] = 1
    total_count: Annotated[
        int, Field(ge=1, le=bounds.SERVICES_MAX, description="all instances; those beyond essential_count are elastic")
    ] = 1
    startup_order: Annotated[
        int, Field(ge=-bounds.STARTUP_ORDER_MAX, le=bounds.STARTUP_ORDER_MAX, description="lower ones start first")
    ] = 0
    labels: Annotated[
        dict[s.LabelKey, s.LabelValue],
        Field(max_length=bounds.LABELS_MAX, description="labels that the node must carry"),
    ] = {}
    ports: Annotated[list[Port], Field(max_length=bounds.PORTS_MAX, description="ports by name")] = []
    readiness: Annotated[Readiness | None, Field(description="when an instance counts as ready")] = None
    ends_application: Annotated[bool, Field(description="its end is the end of the application")] = False
    read_only_root: Annotated[bool, Field(description="the image's own files cannot be changed")] = False
    stop_grace_s: Annotated[
        float,
        Field(ge=0, le=bounds.GRACE_SECONDS_MAX, allow_inf_nan=False, description="seconds between stop and kill"),
    ] = 10.0


class Size(Model):
    """Hints for size-based scheduling."""

    run_time_s: Annotated[s.Seconds, Field(description="expected run time with all services, in seconds")]


class FrameworkUse(Model):
    """A framework put into the application; its components are called `NAME-COMPONENT`."""

    framework: Annotated[s.Label, Field(description="name in the catalogue", examples=["spark"])]
    name: Annotated[s.Label | None, Field(description="prefix of its components; absent: the framework's name")] = None
    parameters: Annotated[
        dict[str, Any], Field(max_length=100, description="values for the framework's parameters")
    ] = {}
    overrides: Annotated[
        dict[str, dict[str, Any]],
        Field(max_length=100, description="changes to its components, by their name in the framework"),
    ] = {}


class TypedColumn(Model):
    """A column wanted, and what it holds."""

    name: Annotated[s.Column, Field(description="its name in the header, or in `names`")]
    type: Annotated[s.ColumnType | None, Field(description="its type in Spark; absent: a text", examples=["long"])] = (
        None
    )


_TYPED_OR_NAME = {
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": 128},
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 128},
                "type": {"type": "string", "examples": ["long", "decimal(10,2)", "date"]},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    ]
}
WantedColumn = Annotated[
    TypedColumn,
    BeforeValidator(lambda one: {"name": one} if isinstance(one, str) else one),
    WithJsonSchema(_TYPED_OR_NAME),
]


class Pushdown(Model):
    """Projection and selection to be done by the object store."""

    columns: Annotated[
        list[WantedColumn],
        Field(
            max_length=bounds.COLUMNS_MAX,
            description="columns wanted, each a name or an object with name and type; none: all of them",
            examples=[["id", {"name": "kwh", "type": "double"}]],
        ),
    ] = []
    where: Annotated[s.Where | None, Field(description="rows wanted", examples=["city = 'Nice'"])] = None


class Csv(Model):
    """How an input's CSV is written."""

    delimiter: Annotated[s.Sign, Field(description="between two fields")] = ","
    quote: Annotated[s.Sign, Field(description="around fields that hold delimiters")] = '"'
    escape: Annotated[s.Sign, Field(description="before a quote in a quoted field")] = "\\"
    header: Annotated[bool, Field(description="the first line of each object names the columns")] = True
    names: Annotated[
        list[s.Column], Field(max_length=bounds.COLUMNS_MAX, description="all columns in order; none: by the header")
    ] = []
    null_text: Annotated[s.NullText, Field(description="what stands for no value, besides an empty field")] = ""
    multi_line: Annotated[bool, Field(description="quoted fields hold line ends; such an input has no view")] = False


class Input(Model):
    """Data read from the object store."""

    name: Annotated[s.Label, Field(description="name, unique in the storage section")]
    uri: Annotated[s.Uri, Field(description="where it is", examples=["swift2d://meters.zoe/2015"])]
    pushdown: Annotated[Pushdown | None, Field(description="rows and columns wanted")] = None
    csv: Annotated[Csv | None, Field(description="how its CSV is written, if it has no header, or other signs")] = None


class Output(Model):
    """Data written to the object store."""

    name: Annotated[s.Label, Field(description="name, unique in the storage section")]
    uri: Annotated[s.Uri, Field(description="where it goes", examples=["swift2d://reports.zoe/2015"])]


class Bandwidth(Model):
    """Bandwidth wanted from the object store."""

    read: Annotated[s.Rate | None, Field(description="bytes per second, or a text such as '40MB/s'")] = None
    write: Annotated[s.Rate | None, Field(description="bytes per second, or a text such as '40MB/s'")] = None
    guarantee: Annotated[
        Literal["required", "preferred"], Field(description="`required` waits for it, `preferred` starts without")
    ] = "preferred"


class Storage(Model):
    """What the application reads from and writes to the object store."""

    inputs: Annotated[list[Input], Field(max_length=bounds.STORAGE_OBJECTS_MAX, description="data read")] = []
    outputs: Annotated[list[Output], Field(max_length=bounds.STORAGE_OBJECTS_MAX, description="data written")] = []
    bandwidth: Annotated[Bandwidth | None, Field(description="bandwidth wanted")] = None


class Document(Model):
    """An application description of Zoe, format version 4."""

    version: Annotated[Literal[4], Field(description="version of this format")]
    name: Annotated[s.Title, Field(description="name of the application")]
    kind: Annotated[
        Literal["batch", "interactive"],
        Field(description="batch ends by itself, interactive by cancel or time limit"),
    ] = "batch"
    description: Annotated[s.Description, Field(description="free text for people")] = ""
    size: Annotated[Size | None, Field(description="hints for size-based scheduling")] = None
    time_limit_s: Annotated[s.Seconds | None, Field(description="seconds after which it is stopped")] = None
    retries: Annotated[
        int, Field(ge=0, le=bounds.RETRIES_MAX, description="how often a failed execution is tried again")
    ] = 0
    priority: Annotated[
        int,
        Field(ge=-bounds.PRIORITY_MAX, le=bounds.PRIORITY_MAX, description="default priority of executions"),
    ] = 0
    deadline_s: Annotated[
        s.Seconds | None, Field(description="default deadline of executions, in seconds after submission")
    ] = None
    frameworks: Annotated[
        list[FrameworkUse], Field(max_length=bounds.FRAMEWORKS_MAX, description="groups of components by reference")
    ] = []
    components: Annotated[
        list[Component], Field(max_length=bounds.COMPONENTS_MAX, description="components of the application's own")
    ] = []
    storage: Annotated[Storage | None, Field(description="inputs, outputs and bandwidth in the object store")] = None
