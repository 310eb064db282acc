"""What local services get from the runtime that was built for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from zoe_embedded.runtimes import runtime
from zoe_embedded.runtimes.runtime import _CLIENT_VARIABLE, _FIND_CLIENT, copy_client, describe


@pytest.mark.parametrize("options", ["-Xss4m", None])
def test_services_get_the_java_options_of_the_caller(
    options: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    if options is not None:
        monkeypatch.setenv("JDK_JAVA_OPTIONS", options)
    assert describe(tmp_path).environment.get("JDK_JAVA_OPTIONS") == options


def test_the_client_of_each_clone_is_found_by_the_python_of_notebooks(tmp_path: Path) -> None:
    """The environment is shared by all clones, and the client changes more often than all else in it."""
    packages, client = tmp_path / "packages", tmp_path / "client"
    for directory in (packages, client):
        directory.mkdir()
    (packages / "zoe-client.pth").write_text(_FIND_CLIENT)
    copy_client(client)
    code = f"import site; site.addsitedir({str(packages)!r}); import zoe_client; print(zoe_client.__path__[0])"
    for variables, found in (({_CLIENT_VARIABLE: str(client)}, str(client / "zoe_client")), ({}, "")):
        command = [sys.executable, "-S", "-c", code]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.stdout.strip() == found, done.stderr


def test_a_runtime_is_another_one_if_its_lock_or_python_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = tmp_path / "python3.11"
    monkeypatch.setattr(runtime, "find_python", lambda *_: python)
    first = runtime._recipe().key
    assert runtime._recipe().key == first
    python = tmp_path / "elsewhere" / "python3.11"
    assert runtime._recipe().key != first
    python = tmp_path / "python3.11"
    changed = tmp_path / "jupyter.lock"
    changed.write_text("jupyterlab==99\n")
    monkeypatch.setattr(runtime, "_NOTEBOOK_LOCK", changed)
    assert runtime._recipe().key != first
