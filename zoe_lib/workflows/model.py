"""The structure of a workflow's document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from zoe_lib.descriptions import bounds
from zoe_lib.descriptions import scalars as s
from zoe_lib.descriptions.model import Model, RetryRule

STEPS_MAX = 1000
"""Maximum executions of one workflow, including matrices: they are written in one transaction."""
DEPENDENCIES_MAX = 20_000
"""Maximum dependencies of all executions together: each costs the master an entry in its index and an event."""
PARAMETERS_MAX = 64
MATRIX_KEYS_MAX = 8
MATRIX_VALUES_MAX = 1000
RESULTS_MAX = 32
TEXT_MAX = 4096


def _scalar(value: object) -> object:
    """Check a scalar with one finding; a union would have one for each of its types."""
    if not isinstance(value, str | int | float | bool):
        raise ValueError("not a string, a number, true or false")
    if isinstance(value, str) and len(value) > TEXT_MAX:
        raise ValueError(f"longer than {TEXT_MAX} characters")
    return value


Scalar = Annotated[str | int | float | bool, BeforeValidator(_scalar)]


class Parameter(Model):
    """A value that a run may set."""

    type: Annotated[Literal["text", "integer", "number", "boolean"], Field(description="type of its values")] = "text"
    default: Annotated[Scalar | None, Field(description="value if none is given (default: a value is required)")] = None
    description: Annotated[s.Description, Field(description="free text for people")] = ""


class Step(Model):
    """One step: what it runs, and its dependencies."""

    name: Annotated[s.Label, Field(description="name, unique in the workflow")]
    needs: Annotated[
        list[s.StepReference],
        Field(max_length=STEPS_MAX, description="steps that must have succeeded; `any:STEP`: ended, `fail:STEP`: not"),
    ] = []
    on_failure: Annotated[
        list[s.Label],
        Field(max_length=STEPS_MAX, description="runs, once, as soon as one of these steps has failed"),
    ] = []
    inputs: Annotated[
        dict[s.Label, s.ResultReference], Field(max_length=RESULTS_MAX, description="results of other steps, by name")
    ] = {}
    results: Annotated[
        dict[s.Label, s.FileName],
        Field(max_length=RESULTS_MAX, description="result files or directories, by name"),
    ] = {}
    matrix: Annotated[
        dict[s.Label, Annotated[list[Scalar], Field(min_length=1, max_length=MATRIX_VALUES_MAX)]],
        Field(max_length=MATRIX_KEYS_MAX, description="runs once with each combination of these values"),
    ] = {}
    for_each: Annotated[
        dict[s.Label, s.ResultReference],
        Field(max_length=1, description="runs once for each entry of a list that another step has made"),
    ] = {}
    at_once: Annotated[
        int | None, Field(ge=1, le=bounds.INTEGER_MAX, description="entries of `for_each` that run at once")
    ] = None
    retries: Annotated[int | None, Field(ge=0, le=bounds.RETRIES_MAX, description="retries after a failure")] = None
    retry: Annotated[RetryRule | None, Field(description="which failures to retry, and how")] = None
    time_limit_s: Annotated[s.Seconds | None, Field(description="longest run of an attempt")] = None
    deadline_s: Annotated[
        s.Seconds | None, Field(description="deadline in seconds after the workflow's submission")
    ] = None
    deadline: Annotated[
        s.Deadline | None, Field(description="the same as a time: `+3h`, `08:00 Europe/Paris` or ISO 8601")
    ] = None
    application: Annotated[dict[str, Any] | None, Field(description="a description, format version 4")] = None
    # The short form: one component with one instance.
    image: Annotated[Any, Field(description="image of the command, instead of `application`")] = None
    command: Annotated[Any, Field(description="command and arguments")] = None
    environment: Annotated[Any, Field(description="environment variables")] = None
    files: Annotated[Any, Field(description="small files that travel along")] = None
    secrets: Annotated[Any, Field(description="secrets")] = None
    requirements: Annotated[Any, Field(description="Python packages")] = None
    memory: Annotated[Any, Field(description="memory (default: 1GiB)")] = None
    cores: Annotated[Any, Field(description="cores (default: 1)")] = None
    devices: Annotated[Any, Field(description="devices")] = None
    work_dir: Annotated[Any, Field(description="working directory")] = None


class Workflow(Model):
    """A workflow, format version 1."""

    version: Annotated[Literal[1], Field(description="version of this format")]
    name: Annotated[s.Title, Field(description="name of the workflow")]
    description: Annotated[s.Description, Field(description="free text for people")] = ""
    deadline_s: Annotated[
        s.Seconds | None, Field(description="deadline of all steps in seconds after the submission")
    ] = None
    deadline: Annotated[
        s.Deadline | None, Field(description="the same as a time: `+3h`, `08:00 Europe/Paris` or ISO 8601")
    ] = None
    params: Annotated[
        dict[s.Label, Parameter], Field(max_length=PARAMETERS_MAX, description="values that a run may give")
    ] = {}
    steps: Annotated[list[Step], Field(min_length=1, max_length=STEPS_MAX, description="steps")]


SHORT_FORM = (
    *("image", "command", "environment", "files", "secrets", "requirements", "memory", "cores", "devices", "work_dir"),
)
