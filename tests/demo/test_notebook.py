"""The Spark notebook as processes of one machine: the same description as on a swarm."""

from __future__ import annotations

import json
import socket
from base64 import b64decode

from tests.support.notebook import CELL, Notebook, check_sum, token_in
from tests.support.stack import running_stack
from tests.support.waiting import until
from zoe_embedded.runtime import CLONE
from zoe_lib.domain.execution import ExecutionState
from zoe_lib.sdk import Client


def test_a_cell_computes_on_the_workers_and_only_the_token_lets_in() -> None:
    description = json.loads((CLONE / "app_descriptions" / "spark-notebook.json").read_text())
    # As `--set` does, for a machine of two cores.
    description["frameworks"][0]["parameters"] |= {"elastic_workers": 0, "worker_cores": 0.5}
    description["components"][0]["resources"]["cores"] = 0.5
    with running_stack(notebook=True) as stack, Client(stack.url, stack.token, patience_s=30) as api:
        submitted = api.submit(description)
        ready = until(lambda: (e := api.execution(submitted.id)).state == "running" and e, deadline_s=120)
        service = next(service for service in ready.services if service.component == "notebook")
        at = api.port_address(ready.id, service.id, "lab")
        token = token_in(lambda: b64decode(api.logs(ready.id, service.id).data).decode())
        notebook = Notebook(at.host, at.port, token)
        notebook.check_strangers()
        assert check_sum(notebook.execute(CELL)) == {socket.gethostname()}
        api.cancel(ready.id)
        assert api.wait(ready.id, 60).state is ExecutionState.CANCELLED
