"""The master's health from its own metrics."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from zoe_lib.settings.config import Settings
from zoe_master.background import metrics
from zoe_master.healthcheck import problem_in, settings_in


def told(lag_s: float) -> str:
    metrics.RECONCILE_LAG.set_function(lambda: lag_s)
    return generate_latest().decode()


@pytest.mark.parametrize("lag_s", [0.0, 0.00001, 29.9])
def test_a_loop_that_goes_on_is_healthy(lag_s: float) -> None:
    assert problem_in(told(lag_s), timer_s=5.0) is None


def test_a_loop_that_hangs_is_not() -> None:
    assert "no tick for 31 s" in (problem_in(told(31.0), timer_s=5.0) or "")


def test_a_master_that_waits_for_the_lead_is_healthy() -> None:
    metrics.stop_leading()
    assert problem_in(generate_latest().decode(), timer_s=5.0) is None


def test_a_stranger_on_the_port_is_not_the_master() -> None:
    assert problem_in("<html>", timer_s=5.0) is not None


@pytest.mark.parametrize("file", ["", "master_metrics_port = 5102\nmaster_timer_s = 7\nlog_level = 'debug'"])
@pytest.mark.parametrize(
    "variables", [{}, {"ZOE_MASTER_METRICS_PORT": "5103"}, {"zoe_master_timer_s": "2.5", "ZOE_LOG_LEVEL": "info"}]
)
def test_it_reads_settings_as_the_master_does(
    file: str, variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zoe.toml").write_text(file)
    environment = {**variables, **({"ZOE_CONFIG": str(tmp_path / "zoe.toml")} if file else {})}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    masters = Settings()
    assert settings_in(environment) == {
        "master_metrics_port": masters.master_metrics_port,
        "master_timer_s": masters.master_timer_s,
    }


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ZOE_CONFIG": "/nowhere/zoe.toml"}, "cannot read the settings: [Errno 2] No such file"),
        ({"ZOE_MASTER_METRICS_PORT": "many"}, "cannot read the settings: could not convert string to float: 'many'"),
        ({}, "cannot read the master's metrics: "),  # they are off
        ({"ZOE_MASTER_METRICS_PORT": "70000"}, "cannot read the master's metrics: "),
        ({"ZOE_MASTER_METRICS_PORT": "inf"}, "cannot read the master's metrics: "),
    ],
)
def test_failed_check_is_reported_in_a_sentence(variables: dict[str, str], words: str) -> None:
    command = [sys.executable, "-m", "zoe_master.healthcheck"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(words)
    assert "Traceback" not in done.stderr


def test_it_imports_nothing_that_takes_long() -> None:
    listed = "import sys, zoe_master.healthcheck; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert not {"pydantic", "sqlalchemy", "zmq"} & set(done.stdout.split())
