"""Descriptions from command lines."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from zoe_cli.commands.running.additions import Additions
from zoe_cli.commands.words.documents import set_in
from zoe_client.running.drafts import CommandOptions, command_draft, spark_draft
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
