"""The Spark notebook as processes of one machine: the same description as on a swarm."""

from __future__ import annotations

import json
import os
import socket
from base64 import b64decode
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.support.notebook import CELL, Notebook, check_sum
from tests.support.stack import running_stack
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.runtime import CLONE
from zoe_lib.domain.execution import ExecutionState

SCRIPT = """
import os
token = open(os.environ["JUPYTER_TOKEN_FILE"]).read()
print(oct(os.stat(os.environ["JUPYTER_TOKEN_FILE"]).st_mode & 0o777), token in str(os.environ), len(token))
"""


def through_the_proxy(url: str) -> Notebook:
    """As a browser that takes the ticket: the cookie of the application's origin, and no token of Jupyter's."""
    ticket = urlsplit(url)
    with httpx.Client(trust_env=False) as browser:
        here = ticket._replace(netloc=f"127.0.0.1:{ticket.port}").geturl()
        entered = browser.get(here, headers={"Host": ticket.netloc})
        assert (entered.status_code, entered.headers["location"]) == (303, "/lab")
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    origin = {"Cookie": cookie, "Origin": f"http://{ticket.netloc}"}
    return Notebook("127.0.0.1", ticket.port or 80, "", origin, ticket.hostname or "")


def test_one_ticket_opens_jupyter_and_a_cell_computes_on_the_workers() -> None:
    description = json.loads((CLONE / "app_descriptions" / "spark-notebook.json").read_text())
    # As `--set` does, for a machine of two cores.
    description["frameworks"][0]["parameters"] |= {"elastic_workers": 0, "worker_cores": 0.5}
    description["components"][0]["resources"]["cores"] = 0.5
    with running_stack(notebook=True) as stack, Client(stack.url, stack.token, patience_s=30) as api:
        submitted = api.submit(description)
        ready = until(lambda: (e := api.execution(submitted.id)).state == "running" and e, deadline_s=120)
        service = next(service for service in ready.services if service.component == "notebook")
        at = api.port_address(ready.id, service.id, "lab", direct=True)
        Notebook(at.host, at.port).check_strangers()
        inside = through_the_proxy(api.open_port(ready.id, service.id, "lab").url)
        assert Notebook(inside.host, inside.port, name=inside.name).ask("GET", "/lab")[0] == 401
        status, page = inside.ask("GET", "/lab")
        token = at.headers["Authorization"].removeprefix("token ")
        assert (status, "JupyterLab" in page, token in page) == (200, True, False)
        assert check_sum(inside.execute(CELL)) == {socket.gethostname()}
        assert inside.execute(SCRIPT).split() == ["0o600", "False", "64"]
        assert token not in b64decode(api.logs(ready.id, service.id).data).decode()
        assert not commands_with(token)
        api.cancel(ready.id)
        assert api.wait(ready.id, 60).state is ExecutionState.CANCELLED


def commands_with(text: str) -> list[str]:
    """Processes of the machine whose arguments hold it."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                found += [process.name] if text.encode() in (process / "cmdline").read_bytes() else []
            except OSError:
                continue
    return found
