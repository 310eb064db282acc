"""spark-submit: submit a Spark program with a cluster for it."""

from __future__ import annotations

from typing import Annotated

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
    Modules,
    Properties,
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
from zoe_cli.commands.words.arguments import ExitCodeFromApp
from zoe_cli.commands.words.documents import Settings, set_in
from zoe_cli.registry import add

_EXAMPLES = (
    "zoe spark-submit job.py",
    "zoe spark-submit --workers 4 --memory 4GiB --follow job.py readings.csv --year 2015",
    "zoe spark-submit --workers 0 --cores 4 small.py",
    "zoe spark-submit --show job.py > app.json",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "spark-submit", spark_submit, _EXAMPLES, options_first=True, others=OTHERS)


def spark_submit(
    context: typer.Context,
    line: Annotated[
        list[str],
        typer.Argument(
            metavar="PROGRAM",
            help="Spark program in Python, and its arguments; local files go with it, up to 64 MiB in all.",
        ),
    ],
    image: Annotated[str | None, typer.Option(help="Image with Spark [zoe/spark].")] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=0, max=1000, help="Number of workers [2]; 0: the program runs in one process."),
    ] = None,
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
    from zoe_client.running.drafts import CommandOptions, Draft, spark_draft

    sparks = GivenSparkOptions(
        executors, executor_memory, executor_cores, driver_memory, tuple(properties or ()), modules
    )

    def draft() -> Draft:
        spark, own_workers, own_cores = sparks.read()
        check_both(workers=(workers, own_workers), cores=(cores, own_cores), memory=(memory, spark.executor_bytes))
        files = (*(carried or ()), *sparks.files())
        count = workers if own_workers is None else own_workers
        wishes = CommandOptions(image, count, memory, cores if own_cores is None else own_cores, files, name=name)
        return spark_draft(line, wishes, spark)

    document = described(context, draft, show=show)
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
    document = Additions(environment, secrets, results, fetch).put_in(document)
    submit(context, set_in(document, settings), how)
