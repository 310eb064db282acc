"""Descriptions from command lines."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from zoe_cli.commands.running.additions import Additions
from zoe_cli.commands.words.documents import set_in
from zoe_client.running.drafts import CommandOptions, command_draft, spark_draft
from zoe_client.running.spark_sizes import (
    MIB,
    SparkOptions,
    checked_properties,
    executor_bytes,
    heap_bytes,
    worker_bytes,
)
from zoe_lib.descriptions import parse


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "job.py").write_text("print()\n")
    return str(tmp_path / "job.py")


def test_a_spark_program_fits_two_cores_and_starts_with_its_workers(program: str) -> None:
    application = parse(spark_draft([program], CommandOptions()).embedded())
    parts = {component.name: component for component in application.components}
    assert application.core_resources().cores_milli <= 2000
    assert parts["driver"].startup_order == parts["spark-worker"].startup_order == 1
    assert (parts["spark-worker"].essential_count, parts["spark-worker"].total_count) == (1, 2)


@pytest.mark.parametrize(("cores", "threads"), [(None, 1), (2.0, 2), (2.5, 3)])
def test_without_workers_one_process_computes(cores: float | None, threads: int, program: str) -> None:
    (driver,) = parse(
        spark_draft([program], CommandOptions(workers=0, memory="4GiB", cores=cores)).embedded()
    ).components
    command = list(driver.command)
    assert command[command.index("--master") + 1] == f"local[{threads}]"
    assert command[command.index("--driver-memory") + 1] == "3276m"
    assert "--executor-memory" not in command
    assert driver.reservation.memory_bytes == 4 * 2**30
    assert driver.reservation.cores_milli == (cores or 1) * 1000
    assert driver.ends_application


def test_numbers_that_cannot_be_sent_are_refused_in_commands_too(program: str) -> None:
    draft = command_draft([program], CommandOptions()).embedded()
    assert set_in(draft, ["main.resources.cores=2"])["components"][0]["resources"]["cores"] == 2
    with pytest.raises(typer.Exit):
        set_in(draft, ["main.resources.cores=1e400"])


def test_variables_secrets_and_results_are_options_of_a_command(program: str) -> None:
    draft = command_draft([program], CommandOptions(workers=3)).embedded()
    changed = Additions(["A=b=c"], ["wandb=KEY", "db"], ["out"], fetch=True).put_in(draft)
    (component,) = parse(changed).components
    assert dict(component.environment)["A"] == "b=c"
    assert [secret.name for secret in component.secrets] == ["wandb", "db"]
    with pytest.raises(typer.BadParameter, match="NAME=VALUE"):
        Additions(["A"]).put_in(draft)
    with pytest.raises(typer.BadParameter, match="--result"):
        Additions(fetch=True).put_in(draft)


def test_options_of_spark_reserve_what_its_heaps_need(tmp_path: Path) -> None:
    program = tmp_path / "job.py"
    program.write_text("")
    spark = SparkOptions(heap_bytes("8g"), heap_bytes("2g"), ("spark.sql.shuffle.partitions={8}",))
    document = spark_draft([str(program)], CommandOptions(workers=3), spark).embedded()
    driver = document["components"][0]
    assert driver["command"][3:7] == ["--driver-memory", "2048m", "--executor-memory", "8192m"]
    assert "spark.sql.shuffle.partitions={{8}}" in driver["command"]
    assert driver["resources"]["memory"] == "2816MiB"
    assert document["frameworks"][0]["parameters"]["worker_memory"] == "10GiB"
    alone = spark_draft([str(program)], CommandOptions(workers=0), SparkOptions(driver_bytes=2**30)).embedded()
    assert alone["components"][0]["resources"]["memory"] == "1536MiB"
    assert alone["components"][0]["command"][3:5] == ["--driver-memory", "1024m"]
    with pytest.raises(ValueError, match="there are no executors"):
        spark_draft([str(program)], CommandOptions(workers=0), spark)


@pytest.mark.parametrize(("text", "mib"), [("2g", 2048), ("512M", 512), ("1GiB", 1024), ("1tb", 2**20)])
def test_sizes_of_spark(text: str, mib: int) -> None:
    assert heap_bytes(text) == mib * 2**20


@given(st.integers(1, 2**44))
def test_a_worker_leaves_its_executor_what_was_asked(heap: int) -> None:
    memory = worker_bytes(heap)
    assert heap <= executor_bytes(memory) < heap + 2 * MIB


@pytest.mark.parametrize("wrong", ["x", "=1", "spark.master=local", "spark.ui.port=4040"])
def test_properties_that_zoe_sets_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="--conf"):
        checked_properties([wrong])
