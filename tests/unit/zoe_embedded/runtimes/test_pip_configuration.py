"""Downloads of uv, npm and this process use pip's configuration."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zoe_embedded.runtimes import pip_configuration
from zoe_embedded.runtimes.pip_configuration import (
    configuration_of,
    download_environment,
    options,
    trust_context,
    variables,
)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that pip reads, and no variables that say the same."""
    for name in [
        name for name in os.environ if name.startswith(("PIP_", "UV_", "SSL_CERT", "NODE_EXTRA", "ALL_PROXY"))
    ]:
        monkeypatch.delenv(name)
    file = tmp_path / "pip.conf"
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    configuration_of.cache_clear()
    return file


def test_the_authorities_and_the_index_of_pips_file_are_those_of_the_others(configured: Path, tmp_path: Path) -> None:
    authorities = tmp_path / "ca.pem"
    configured.write_text(
        f"[global]\ncert = {authorities}\nindex-url = https://pypi.example.org/simple\n"
        f"extra-index-url = https://a.example.org\n  https://b.example.org\nfind-links = /nowhere {tmp_path}\n"
        "[install]\ntrusted-host = pypi.example.org\n"
    )
    env = download_environment(Path(sys.executable))
    assert env["SSL_CERT_FILE"] == env["NODE_EXTRA_CA_CERTS"] == str(authorities)
    assert env["UV_DEFAULT_INDEX"] == "https://pypi.example.org/simple"
    assert env["UV_INDEX"] == "https://a.example.org https://b.example.org"
    assert env["UV_FIND_LINKS"] == str(tmp_path)
    assert env["UV_INSECURE_HOST"] == "pypi.example.org"


def test_a_variable_of_pip_comes_before_its_file(configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configured.write_text("[global]\ncert = /file.pem\n")
    monkeypatch.setenv("PIP_CERT", "/variable.pem")
    assert download_environment(Path(sys.executable))["SSL_CERT_FILE"] == "/variable.pem"


def test_variables_already_set_stay() -> None:
    there = {"SSL_CERT_FILE": "/own.pem", "UV_DEFAULT_INDEX": "https://own"}
    assert variables({"cert": "/pip.pem", "index-url": "https://pip"}, there) == {"NODE_EXTRA_CA_CERTS": "/own.pem"}


def test_a_section_of_another_command_and_odd_lines_are_left_out() -> None:
    listed = "global.cert='/a'\ninstall.cert='/b'\ndownload.cert='/c'\nno line\n:env:.timeout='180'\n"
    assert options(listed) == {"cert": "/b", "timeout": "180"}


def test_a_python_without_pip_has_no_configuration(tmp_path: Path) -> None:
    assert configuration_of(tmp_path / "none") == {}


def test_a_file_without_certificates_is_an_error_of_the_download(configured: Path, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    configured.write_text(f"[global]\ncert = {tmp_path / 'ca.pem'}\n")
    with pytest.raises(OSError, match=r"(?i)no.certificate"):
        trust_context(Path(sys.executable))


def test_the_set_up_needs_only_a_bare_python(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(pip_configuration.__file__).parents[2])!r}); import scripts.setup"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
