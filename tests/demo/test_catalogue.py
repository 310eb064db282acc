"""The catalogue on the stack of `make serve`: what its README promises runs, and the rest is refused in words."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from tests.support.postgres import make_home
from tests.support.stack import running_stack, zoe
from tests.support.waiting import until
from zoe_client import Client, NeverFits
from zoe_embedded.home import Home
from zoe_embedded.runtimes.interpreters import VARIABLE
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.stack import Stack
from zoe_lib import descriptions
from zoe_lib.domain.executions.execution import ExecutionState

README = (CLONE / "app_descriptions/README.md").read_text()
ASKED = "(?:installed at the first launch|with R on the machine)"


INSTALLER = """
import json, pathlib, time
print("[fetched 1 of 2 MB]", flush=True)
go = pathlib.Path({place!r})
while not go.exists(): time.sleep(0.05)
print(json.dumps({{"path": ["/usr/bin", "/bin"], "environment": {{"INSTALLED": "yes"}}}}))
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    program = [sys.executable, "-c", INSTALLER.format(place=str(tmp_path_factory.getbasetemp() / "go"))]
    images = {"zoe/late": {"install": program, "installs": "late things, about 2 MB"}}
    with running_stack(forked=True, local_images=images) as made:
        yield made


@pytest.fixture
def api(stack: Stack) -> Iterator[Client]:
    with Client(stack.url, stack.token, patience_s=30) as client:
        yield client


def document(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((CLONE / "app_descriptions" / name).read_text())
    return found


def promised(answer: str) -> set[str]:
    return set(re.findall(rf"^\| `(zoe/[a-z-]+)` \| {answer} \|", README, re.MULTILINE))


def test_the_images_of_the_readme_are_those_of_the_stack(stack: Stack) -> None:
    configured = set(
        re.findall(r'^\["?local_images"?\."?(zoe/[a-z-]+)"?\]', stack.config_file.read_text(), re.MULTILINE)
    )
    assert configured - {"zoe/r", "zoe/late"} == promised("yes")
    assert ("zoe/r" in configured) == bool(shutil.which("Rscript"))
    used = {
        str(component["image"])
        for entry in descriptions.catalogue()
        for component in descriptions.expand(descriptions.catalogue_document(entry))["components"]
    }
    assert used <= promised("yes") | promised("no") | promised(ASKED)


def test_a_runtime_is_installed_at_the_first_use_of_its_image(
    api: Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    late: Any = document("batch.json")
    late["components"][0] |= {"image": "zoe/late", "command": ["sh", "-c", "echo $INSTALLED"]}
    until(lambda: "installs" in str(api.validate(late)))  # the master has told what it can do
    submitted = api.submit(late)
    assert "the first use of image zoe/late installs late things, about 2 MB" in submitted.notes
    until(lambda: "is being installed: fetched 1 of 2 MB." in str(api.explain(submitted.id).reason))
    (tmp_path_factory.getbasetemp() / "go").touch()
    assert api.wait(submitted.id, 60).state is ExecutionState.SUCCEEDED
    assert b"".join(api.follow_logs(submitted.id, api.execution(submitted.id).services[0].id)) == b"yes\n"
    assert not [note for note in api.submit(late).notes if "installs" in note]


def test_no_command_line_shows_a_secret_of_the_stack(stack: Stack, api: Client, tmp_path: Path) -> None:
    """`ps` shows them to all users; a component has its secret in a file, and calls the API by one."""
    (tmp_path / "key").write_text("an unused key")
    assert zoe(stack, "secret", "set", "shown", "--from-file", str(tmp_path / "key")).returncode == 0
    sleeper: Any = document("batch.json")
    sleeper["components"][0] |= {"command": ["sleep", "60"], "secrets": [{"name": "shown"}]}
    submitted = api.submit(sleeper)
    until(lambda: api.execution(submitted.id).core_ready)
    password = urlsplit(stack.database_url).password or ""
    secrets = {stack.token, stack.password, password, "an unused key"}
    lines = {" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])}
    assert any("sleep" in line for line in lines)
    assert [line for line in lines for secret in secrets if secret in line] == []
    api.cancel(submitted.id)


def test_one_command_prints_its_greeting(api: Client) -> None:
    submitted = api.submit(document("batch.json"))
    ended = api.wait(submitted.id, 60)
    assert ended.state is ExecutionState.SUCCEEDED
    assert b"hello from" in b"".join(api.follow_logs(ended.id, ended.services[0].id))


def check_opened(stack: Stack, execution_id: str) -> None:
    """What `zoe open` prints lets a browser in, once."""
    parts = urlsplit(zoe(stack, "open", execution_id).stdout.split()[-1])
    assert parts.netloc == f"{execution_id}.apps.localhost:{urlsplit(stack.url).port}"
    with httpx.Client(base_url=stack.url, headers={"Host": parts.netloc}, trust_env=False) as browser:
        entered = browser.get(f"{parts.path}?{parts.query}")
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert browser.get("/page.txt").text == "found"
        assert browser.get(f"{parts.path}?{parts.query}").status_code == 401


def test_the_web_server_answers_with_what_lies_in_the_workspace(stack: Stack, api: Client, tmp_path: Path) -> None:
    (stack.workspace / "page.txt").write_text("found")
    (stack.workspace / "page.txt").chmod(0o644)
    submitted = api.submit(document("web-server.json"))
    ready = until(lambda: (e := api.execution(submitted.id)).core_ready and e)
    port = urlsplit(stack.url).port
    shown = f"open {ready.id}.apps.localhost:{port}/ (server-0, web); to open it in a browser: zoe open {ready.id}"
    assert shown in re.sub(r" +(http://)?", " ", zoe(stack, "show", ready.id).stdout)
    check_opened(stack, ready.id)
    api.cancel(ready.id)
    assert api.wait(ready.id, 60).state is ExecutionState.CANCELLED
    output = b"".join(api.follow_logs(ready.id, ready.services[0].id)).decode()
    assert "page.txt" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("name", "image", "target"),
    [
        ("marimo", "zoe/jupyter-spark", "make notebook"),
        ("spark-notebook", "zoe/jupyter-spark", "make notebook"),
        ("spark-submit", "zoe/spark", "make runtime"),
        ("r-notebook", "zoe/jupyter-r", "apt-get install r-cran-irkernel"),
        ("mpi-pi", "zoe/mpi", "make mpi"),
        ("torch-fit", "zoe/torch", "make images"),
    ],
)
def test_an_image_without_a_runtime_is_refused_and_the_way_to_it_is_named(
    api: Client, name: str, image: str, target: str
) -> None:
    small = descriptions.expand(document(f"{name}.json"))
    for component in small["components"]:
        component["resources"]["cores"] = 0.1
    with pytest.raises(NeverFits, match="cannot run on this back-end") as refused:
        api.submit(small)
    assert target in str(refused.value.problem.errors)
    assert image in promised("no") | promised(ASKED)
    entries = {entry.id: entry for entry in api.catalogue().entries}
    assert entries[name].unavailable == f"{entries[name].title} is not installed here"
    assert f"`{target}`" in str(entries[name].remedy)
    assert (entries["batch"].unavailable, entries["batch"].remedy) == (None, None)


def test_without_a_python_for_spark_the_catalogue_says_to_install_one_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under Debian 13, whose Python is too new."""
    monkeypatch.setenv(VARIABLE, "/bin/true")
    directory = make_home()
    try:
        with Stack(Home(directory, by_root=os.geteuid() == 0), on_demand=True) as stack:
            assert stack.runtimes.lacking
            with Client(stack.url, stack.token, patience_s=30) as api:
                entries = {entry.id: entry for entry in api.catalogue().entries}
                remedies = {name: str(entry.remedy) for name, entry in entries.items()}
    finally:
        shutil.rmtree(directory)
    first = "end Zoe, install python3.11 for Spark"
    assert remedies["spark-submit"] == f"{first}, and start it again"
    assert remedies["spark-notebook"] == f"{first}, and start it again"
    assert remedies["python-notebook"] == "end Zoe, install python3.11 or python3.13, and start it again"
