"""The description format, version 4, as pydantic models: the source of the JSON Schema and of the structural checks.

`rules` has the checks that need two fields (duplicates, references, contradictions).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from zoe_client.vocabulary import NotificationKind
from zoe_lib.descriptions import bounds
from zoe_lib.descriptions import scalars as s
from zoe_lib.domain.values.finish_times import CONFIDENCE, CONFIDENCE_LEAST, CONFIDENCE_MOST


class Model(BaseModel):
    """Base of all models: strict, closed and immutable; unknown keys are errors."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Limits(Model):
    """Maximum that an instance may use; the default is the reservation."""

    memory: Annotated[s.Memory | None, Field(description="hard limit of memory")] = None
    cores: Annotated[s.Cores | None, Field(description="hard limit of cores")] = None


class Resources(Model):
    """Resources that each instance reserves on its node."""

    memory: Annotated[s.Memory, Field(description="memory: bytes, or a string such as '2GiB'", examples=["2GiB"])]
    cores: Annotated[s.Cores, Field(description="cores, fractions allowed, in steps of 0.001")] = 1.0
    limits: Annotated[Limits, Field(description="maximum that each instance may use")] = Limits()
    shm: Annotated[s.Memory | None, Field(description="size of /dev/shm")] = None
    devices: Annotated[
        dict[s.DeviceKind, Annotated[int, Field(ge=1, le=bounds.DEVICES_MAX)]],
        Field(max_length=bounds.DEVICE_KINDS_MAX, description="whole devices by kind", examples=[{"gpu": 1}]),
    ] = {}


class SignIn(Model):
    """Sign-in of Zoe's proxy on behalf of users, with the secret that the program finds in `{secret_file}`."""

    header: Annotated[s.HeaderName, Field(description="HTTP header with the secret")] = "Authorization"
    scheme: Annotated[s.HeaderScheme, Field(description="word before the secret; empty: none")] = "Bearer"


class Port(Model):
    """A port that other components or users reach by name."""

    name: Annotated[s.Label, Field(description="name for `{port:NAME}`, unique in the component")]
    number: Annotated[int, Field(ge=1, le=65535, description="port number inside the container")]
    protocol: Annotated[Literal["tcp", "http"], Field(description="protocol of the port")] = "tcp"
    path: Annotated[s.UrlPath, Field(description="path at which a browser starts (http)")] = "/"
    proxied: Annotated[bool, Field(description="users may open it through Zoe (http only)")] = False
    sign_in: Annotated[SignIn | None, Field(description="how the proxy signs in (proxied only)")] = None


class Readiness(Model):
    """When an instance counts as ready: exactly one of `tcp` and `http` names a port that must answer."""

    tcp: Annotated[s.Label | None, Field(description="name of a port that must accept a connection")] = None
    http: Annotated[s.Label | None, Field(description="name of a port that must answer with a status below 500")] = None
    path: Annotated[s.UrlPath, Field(description="path to request (http)")] = "/"
    interval_s: Annotated[s.ProbeSeconds, Field(description="seconds between two probes")] = 1.0
    timeout_s: Annotated[s.ProbeSeconds, Field(description="seconds after which the start has failed")] = 120.0


class Volume(Model):
    """Storage mounted into each instance: exactly one of `name` and `host_path`."""

    name: Annotated[s.Label | None, Field(description="a named volume of the tenant")] = None
    host_path: Annotated[s.AbsolutePath | None, Field(description="a path that the admin allows")] = None
    target: Annotated[s.AbsolutePath, Field(description="where it is mounted")]
    read_only: Annotated[bool, Field(description="mount read-only")] = False


class Secret(Model):
    """A secret that `zoe secret set` has stored: a file in `{secrets}` (default), or an environment variable."""

    name: Annotated[s.SecretName, Field(description="name of the secret: the user's, else the tenant's")]
    file: Annotated[s.SecretFile | None, Field(description="file in `{secrets}` (default: its name)")] = None
    variable: Annotated[
        s.VariableName | None, Field(description="environment variable instead (only on the local back-end)")
    ] = None


class Source(Model):
    """A git repository that is cloned into the workspace before an instance starts."""

    git: Annotated[s.GitUrl, Field(description="address, https:// or ssh://")]
    ref: Annotated[s.GitRef | None, Field(description="branch, tag or commit (default: the target of HEAD)")] = None
    into: Annotated[
        s.SourceDirectory | None, Field(description="directory below the workspace (default: the repository's name)")
    ] = None
    secret: Annotated[
        s.SecretName | None, Field(description="secret for access: a token (https), or a private key (ssh)")
    ] = None


class Scaling(Model):
    """Automatic scaling: exactly one of `cpu`, `query`, `port` and `spark` gives the measured amount."""

    minimum: Annotated[
        int | None, Field(ge=1, le=bounds.SERVICES_MAX, description="fewest instances (default: the essential ones)")
    ] = None
    maximum: Annotated[int, Field(ge=1, le=bounds.SERVICES_MAX, description="most instances")]
    cpu: Annotated[
        float | None,
        Field(gt=0.01, le=1, description="target share of the reserved cores in use, on average, such as 0.7"),
    ] = None
    query: Annotated[
        str | None,
        Field(min_length=1, max_length=2000, description="PromQL query for the amount that all instances share"),
    ] = None
    port: Annotated[
        s.Label | None, Field(description="name of an HTTP port at which an instance reports the amount")
    ] = None
    path: Annotated[
        str, Field(pattern=r"^/[\x21-\x7e]*$", max_length=1000, description="path of that request (default: /)")
    ] = "/"
    spark: Annotated[
        s.Label | None,
        Field(
            description="name of the port of a Spark driver's pages, in any component: the executors that the driver "
            "wants, with spark.dynamicAllocation.enabled"
        ),
    ] = None
    per_instance: Annotated[
        float, Field(gt=0, le=1e12, allow_inf_nan=False, description="amount that one instance handles")
    ] = 1.0
    interval_s: Annotated[float, Field(ge=1, le=3600, description="seconds between two measurements")] = 15.0
    calm_s: Annotated[
        float, Field(ge=0, le=86_400, description="seconds for which fewer instances must suffice before some stop")
    ] = 120.0


class Progress(Model):
    """Source of an execution's progress: exactly one of `file`, `port` and `spark`."""

    file: Annotated[
        s.FileName | None,
        Field(description="a file below the working directory; its last line is a share such as 0.42, or `done total`"),
    ] = None
    port: Annotated[
        s.Label | None,
        Field(description='name of an HTTP port that answers with such a line, or JSON: {"progress": 0.42}'),
    ] = None
    path: Annotated[
        str, Field(pattern=r"^/[\x21-\x7e]*$", max_length=1000, description="path of that request (default: /)")
    ] = "/"
    spark: Annotated[
        s.Label | None, Field(description="name of the port of a Spark driver's pages: the share of completed tasks")
    ] = None


class Component(Model):
    """One container template; the first `essential_count` instances are essential, the rest elastic."""

    name: Annotated[s.Label, Field(description="name, unique in the application; used as a host name")]
    image: Annotated[s.Image, Field(description="container image", examples=["zoe/spark"])]
    command: Annotated[
        list[s.Argument],
        Field(max_length=bounds.ARGUMENTS_MAX, description="arguments passed to the image instead of its own"),
    ] = []
    work_dir: Annotated[s.WorkDir | None, Field(description="working directory")] = None
    environment: Annotated[
        dict[s.VariableName, s.Argument],
        Field(max_length=bounds.VARIABLES_MAX, description="environment variables"),
    ] = {}
    secrets: Annotated[
        list[Secret], Field(max_length=bounds.SECRETS_MAX, description="secrets that instances get")
    ] = []
    volumes: Annotated[list[Volume], Field(max_length=bounds.VOLUMES_MAX, description="storage to mount")] = []
    resources: Annotated[Resources, Field(description="resources that each instance reserves")]
    essential_count: Annotated[s.Count, Field(description="instances that must all run for useful work")] = 1
    total_count: Annotated[
        int, Field(ge=1, le=bounds.SERVICES_MAX, description="all instances; those beyond essential_count are elastic")
    ] = 1
    preferred_count: Annotated[
        int | None,
        Field(
            ge=1,
            le=bounds.SERVICES_MAX,
            description="instances that are enough: free resources go to the preferred ones of all executions first",
        ),
    ] = None
    startup_order: Annotated[
        int, Field(ge=-bounds.STARTUP_ORDER_MAX, le=bounds.STARTUP_ORDER_MAX, description="lower ones start first")
    ] = 0
    labels: Annotated[
        dict[s.LabelKey, s.LabelValue],
        Field(max_length=bounds.LABELS_MAX, description="labels that the node must have"),
    ] = {}
    ports: Annotated[list[Port], Field(max_length=bounds.PORTS_MAX, description="ports by name")] = []
    scaling: Annotated[
        Scaling | None, Field(description="automatic scaling while it runs; only elastic instances start or stop")
    ] = None
    progress: Annotated[
        Progress | None,
        Field(
            description="where its first instance reports the progress of the execution; at most one component has it"
        ),
    ] = None
    readiness: Annotated[Readiness | None, Field(description="when an instance is ready")] = None
    ends_application: Annotated[bool, Field(description="the application ends when this component ends")] = False
    read_only_root: Annotated[bool, Field(description="make the image's own files read-only")] = False
    stop_grace_s: Annotated[
        float,
        Field(ge=0, le=bounds.GRACE_SECONDS_MAX, allow_inf_nan=False, description="seconds between stop and kill"),
    ] = 10.0
    files: Annotated[
        dict[s.FileName, s.FileText],
        Field(max_length=bounds.FILES_MAX, description="small files by name, found below `{files}`"),
    ] = {}
    requirements: Annotated[
        list[s.Requirement],
        Field(
            max_length=bounds.REQUIREMENTS_MAX,
            description="Python packages that instances find installed",
            examples=[["pandas==2.2.3", "lightgbm"]],
        ),
    ] = []
    build_requirements: Annotated[
        bool,
        Field(
            description="build packages that have no wheel, which runs their own programs (only on the local back-end)"
        ),
    ] = False
    sources: Annotated[
        list[Source],
        Field(
            max_length=bounds.SOURCES_MAX,
            description="git repositories that are cloned into the workspace first",
            examples=[[{"git": "https://example.org/team/project.git", "ref": "main"}]],
        ),
    ] = []
    api: Annotated[
        Literal["jobs", "offered"] | None,
        Field(
            description="instances get a token to submit and control their own jobs: `jobs` requires it; `offered` "
            "takes it where the installation gives it, until the execution is shared for `open` or `control`"
        ),
    ] = None


class Size(Model):
    """Hints for size-based scheduling."""

    run_time_s: Annotated[s.Seconds, Field(description="expected run time with all services, in seconds")]


class FrameworkUse(Model):
    """A framework in the application; its components are called `NAME-COMPONENT`."""

    framework: Annotated[s.Label, Field(description="name in the catalogue", examples=["spark"])]
    name: Annotated[s.Label | None, Field(description="prefix of its components (default: the framework's name)")] = (
        None
    )
    parameters: Annotated[
        dict[str, Any], Field(max_length=100, description="values for the framework's parameters")
    ] = {}
    overrides: Annotated[
        dict[str, dict[str, Any]],
        Field(max_length=100, description="changes to its components, by their name in the framework"),
    ] = {}


class TypedColumn(Model):
    """A column to read or to compare, and its type."""

    name: Annotated[s.Column, Field(description="column name in the header, or in `names`")]
    type: Annotated[s.ColumnType | None, Field(description="Spark type (default: string)", examples=["long"])] = None
    read: Annotated[bool, Field(description="false: only `where` compares it")] = True


_TYPED_OR_NAME = {
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": 128},
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 128},
                "type": {"type": "string", "examples": ["long", "decimal(10,2)", "date"]},
                "read": {"type": "boolean", "default": True},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    ]
}
WantedColumn = Annotated[
    TypedColumn,
    BeforeValidator(lambda entry: {"name": entry} if isinstance(entry, str) else entry),
    WithJsonSchema(_TYPED_OR_NAME),
]


class Pushdown(Model):
    """Projection and selection, done by the object store."""

    columns: Annotated[
        list[WantedColumn],
        Field(
            max_length=bounds.COLUMNS_MAX,
            description="columns to read (default: all), each a name or an object with `name` and `type`; with "
            "`read: false`, for columns that only `where` compares",
            examples=[["id", {"name": "kwh", "type": "double"}]],
        ),
    ] = []
    where: Annotated[s.Where | None, Field(description="condition that selects rows", examples=["city = 'Nice'"])] = (
        None
    )


class Csv(Model):
    """CSV format of an input."""

    delimiter: Annotated[s.Sign, Field(description="separator between two fields")] = ","
    quote: Annotated[s.Sign, Field(description="quote around fields that contain separators")] = '"'
    escape: Annotated[s.Sign, Field(description="escape before a quote in a quoted field")] = "\\"
    header: Annotated[bool, Field(description="whether the first line of each object names the columns")] = True
    names: Annotated[
        list[s.Column],
        Field(max_length=bounds.COLUMNS_MAX, description="all columns in order (default: from the header)"),
    ] = []
    null_text: Annotated[s.NullText, Field(description="text that stands for null, in addition to an empty field")] = ""
    multi_line: Annotated[
        bool, Field(description="quoted fields may contain line breaks; such an input has no view")
    ] = False


class Input(Model):
    """Data read from the object store."""

    name: Annotated[s.Label, Field(description="name, unique in the storage section")]
    uri: Annotated[s.Uri, Field(description="URI of the input", examples=["swift2d://meters.zoe/2015"])]
    pushdown: Annotated[Pushdown | None, Field(description="rows and columns to read")] = None
    csv: Annotated[
        Csv | None, Field(description="CSV format of the input, if it has no header or uses other separators")
    ] = None


class Output(Model):
    """Data written to the object store."""

    name: Annotated[s.Label, Field(description="name, unique in the storage section")]
    uri: Annotated[s.Uri, Field(description="URI of the output", examples=["swift2d://reports.zoe/2015"])]


class Bandwidth(Model):
    """Bandwidth of the object store that the application requests."""

    read: Annotated[s.Rate | None, Field(description="bytes per second, or a string such as '40MB/s'")] = None
    write: Annotated[s.Rate | None, Field(description="bytes per second, or a string such as '40MB/s'")] = None
    guarantee: Annotated[
        Literal["required", "preferred"],
        Field(description="`required` waits for the bandwidth, `preferred` starts without it"),
    ] = "preferred"


class Storage(Model):
    """Inputs and outputs of the application in the object store."""

    inputs: Annotated[list[Input], Field(max_length=bounds.STORAGE_OBJECTS_MAX, description="data read")] = []
    outputs: Annotated[list[Output], Field(max_length=bounds.STORAGE_OBJECTS_MAX, description="data written")] = []
    bandwidth: Annotated[Bandwidth | None, Field(description="bandwidth wanted")] = None


class RetryRule(Model):
    """Conditions for a retry of a failed execution, and differences of the next attempt."""

    pause_s: Annotated[
        s.Seconds | None,
        Field(description="seconds before the first retry, doubled each time (default: the policy's)"),
    ] = None
    pause_max_s: Annotated[s.Seconds | None, Field(description="longest pause (default: the policy's)")] = None
    exit_codes: Annotated[
        list[Annotated[int, Field(ge=1, le=255)]],
        Field(max_length=255, description="only after these exit codes (default: after any failure)"),
    ] = []
    memory_factor: Annotated[
        float | None,
        Field(
            gt=1,
            le=bounds.MEMORY_FACTOR_MAX,
            allow_inf_nan=False,
            description="growth factor for the memory of a component that ran out of it (default: no retry then)",
        ),
    ] = None


class PromiseWish(Model):
    """A request for a promise that an execution ends by its deadline."""

    confidence: Annotated[
        float,
        Field(ge=CONFIDENCE_LEAST, le=CONFIDENCE_MOST, description="required probability of an end in time"),
    ] = CONFIDENCE
    budget: Annotated[
        float | None,
        Field(
            gt=0,
            le=1e12,
            allow_inf_nan=False,
            description="maximum cost in the currency of the price list, or in core-hours without one",
        ),
    ] = None


class Document(Model):
    """An application description of Zoe, format version 4."""

    version: Annotated[Literal[4], Field(description="version of this format")]
    name: Annotated[s.Title, Field(description="name of the application")]
    kind: Annotated[
        Literal["batch", "interactive"],
        Field(description="batch ends by itself; interactive ends when it is cancelled or at its time limit"),
    ] = "batch"
    description: Annotated[s.Description, Field(description="free text for people")] = ""
    size: Annotated[Size | None, Field(description="hints for scheduling by size")] = None
    time_limit_s: Annotated[s.Seconds | None, Field(description="seconds after which the execution is stopped")] = None
    retries: Annotated[
        int, Field(ge=0, le=bounds.RETRIES_MAX, description="number of retries of a failed execution")
    ] = 0
    retry: Annotated[RetryRule | None, Field(description="which failures to retry, and how")] = None
    notify: Annotated[
        list[Annotated[NotificationKind, Field(strict=False)]],
        Field(max_length=len(NotificationKind), description="events that notify its owner, at the owner's targets"),
    ] = []
    priority: Annotated[
        int,
        Field(ge=-bounds.PRIORITY_MAX, le=bounds.PRIORITY_MAX, description="default priority of executions"),
    ] = 0
    deadline_s: Annotated[
        s.Seconds | None, Field(description="default deadline of executions, in seconds after submission")
    ] = None
    deadline: Annotated[
        s.Deadline | None,
        Field(description="the same as a time: `+3h`, `08:00 Europe/Paris` (the next after a submission), ISO 8601"),
    ] = None
    promise: Annotated[
        PromiseWish | None,
        Field(description="run it only if Zoe promises that it ends by its deadline, or you accept an offer"),
    ] = None
    frameworks: Annotated[
        list[FrameworkUse], Field(max_length=bounds.FRAMEWORKS_MAX, description="groups of components from frameworks")
    ] = []
    components: Annotated[
        list[Component], Field(max_length=bounds.COMPONENTS_MAX, description="components defined here")
    ] = []
    results: Annotated[
        list[s.ResultPath],
        Field(max_length=bounds.RESULTS_MAX, description="result files in the workspace, such as `out/*.csv`"),
    ] = []
    storage: Annotated[Storage | None, Field(description="inputs, outputs and bandwidth in the object store")] = None
