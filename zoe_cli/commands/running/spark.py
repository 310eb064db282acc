"""spark-submit: submit a Spark program with a cluster for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import typer

from zoe_cli.commands.running.additions import Additions, Environment, Fetch, Results, SecretNames
from zoe_cli.commands.running.carrying import described
from zoe_cli.commands.running.spark_options import (
    OTHERS,
    DriverMemory,
    ExecutorCores,
    ExecutorMemory,
    Executors,
    GivenSparkOptions,
    Image,
    Modules,
    Program,
    Properties,
    Workers,
    check_both,
)
from zoe_cli.commands.running.submitting import (
    After,
    Begin,
    Carried,
    Conditions,
    Cores,
    Deadline,
    Follow,
    Hold,
    Keep,
    Memory,
    Name,
    Show,
    Submission,
    Wait,
    submit,
)
from zoe_cli.commands.watching.promising import RunTime, with_run_time
from zoe_cli.commands.words.arguments import ExitCodeFromApp
from zoe_cli.commands.words.documents import Settings, set_in
from zoe_cli.commands.words.late_options import note_late_options
from zoe_cli.registry import add

if TYPE_CHECKING:
    from pathlib import Path

    from zoe_client.running.drafts import Draft

_EXAMPLES = (
    "zoe spark-submit job.py",
    "zoe spark-submit --workers 4 --memory 4GiB --follow job.py readings.csv --year 2015",
    "zoe spark-submit --workers 0 --cores 4 small.py",
    "zoe spark-submit --show job.py > app.json",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "spark-submit", spark_submit, _EXAMPLES, options_first=True, others=OTHERS)


@dataclass(frozen=True, slots=True)
class _AskedCluster:
    """Options of Zoe for the cluster of a program; None: not given."""

    image: str | None
    workers: int | None
    memory: str | None
    cores: float | None
    files: tuple[Path, ...]
    name: str | None


def spark_submit(
    context: typer.Context,
    line: Program,
    image: Image = None,
    workers: Workers = None,
    memory: Memory = None,
    cores: Cores = None,
    carried: Carried = None,
    environment: Environment = None,
    secrets: SecretNames = None,
    results: Results = None,
    fetch: Fetch = False,
    name: Name = None,
    settings: Settings = None,
    show: Show = False,
    after: After = None,
    keep: Keep = False,
    begin: Begin = None,
    deadline: Deadline = None,
    run_time: RunTime = None,
    hold: Hold = False,
    wait: Wait = False,
    following: Follow = False,
    exit_code_from_app: ExitCodeFromApp = False,
    executors: Executors = None,
    executor_memory: ExecutorMemory = None,
    executor_cores: ExecutorCores = None,
    driver_memory: DriverMemory = None,
    properties: Properties = None,
    modules: Modules = None,
) -> None:
    """Submit a Spark program with a cluster for it. Options go before the program."""
    note_late_options(line[1:], {text for option in context.command.params for text in option.opts}, "program")
    sparks = GivenSparkOptions(
        executors, executor_memory, executor_cores, driver_memory, tuple(properties or ()), modules
    )
    asked = _AskedCluster(image, workers, memory, cores, tuple(carried or ()), name)
    document = described(context, partial(_draft, line, asked, sparks), show=show)
    how = Submission(
        name=name,
        deadline=deadline,
        conditions=Conditions(tuple(after or ()), keep, begin, hold),
        wait=wait,
        following=following,
        exit_code_from_app=exit_code_from_app,
        show=show,
        fetch=fetch,
    )
    document = with_run_time(Additions(environment, secrets, results, fetch).put_in(document), run_time)
    submit(context, set_in(document, settings), how)


def _draft(line: list[str], asked: _AskedCluster, sparks: GivenSparkOptions) -> Draft:
    """Return what the options of Zoe and of Spark ask for; BadParameter if they say the same thing twice."""
    from zoe_client.running.drafts import CommandOptions, spark_draft

    spark, workers, cores = sparks.read()
    check_both(
        workers=(asked.workers, workers), cores=(asked.cores, cores), memory=(asked.memory, spark.executor_bytes)
    )
    wishes = CommandOptions(
        asked.image,
        asked.workers if workers is None else workers,
        asked.memory,
        asked.cores if cores is None else cores,
        (*asked.files, *sparks.files()),
        name=asked.name,
    )
    return spark_draft(line, wishes, spark)
