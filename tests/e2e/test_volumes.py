"""A volume from its creation to its removal: written, its server killed, attached again, read."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.documents import Document, document, part
from tests.support.installation import Installation
from tests.support.needs import need_root
from tests.support.waiting import until
from zoe_client import Client, Refused
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.local.backend import why_no_volumes
from zoe_master.backends.local.supervisor.volumes import attachment, mounts


def mounting(script: str, name: str = "data") -> Document:
    volumes = [{"name": name, "target": "/data"}]
    return document(part("main", "sh", "-c", script, volumes=volumes, ends_application=True))


def test_flushed_data_follows_the_next_execution(installation: Installation, client: Client) -> None:
    need_root()
    if why := why_no_volumes():
        pytest.skip(f"tool: volumes of blocks: {why}")
    installation.start_master()
    installation.until_leading()
    until(lambda: client.nodes().nodes)
    made = client.create_volume("data", "32MiB", "encrypted")
    assert (made.state, made.filters, made.execution_id) == ("ready", ["luks"], None)
    with pytest.raises(Refused, match="there is no policy 'gold'"):
        client.create_volume("more", "32MiB", "gold")
    writing = "echo words > $ZOE_VOLUME_DATA/kept; sync $ZOE_VOLUME_DATA/kept; echo flushed; sleep 1000"
    writer = client.run(mounting(writing))
    assert "volume data is your volume of 32 MiB with policy encrypted" in writer.view.notes
    until(lambda: "flushed" in writer.output())
    assert client.volume("data").execution_id == writer.id
    with pytest.raises(Refused, match=f"attached to execution {writer.id}"):
        client.remove_volume("data")
    late = client.wait(client.submit(mounting("true")).id, 60)
    assert late.state is ExecutionState.FAILED
    assert late.message == f"volume data is attached to execution {writer.id}, which has not ended"
    (directory,) = (str(path) for path in (installation.workspaces / ".blocks").iterdir())
    (server,) = attachment.holders(directory)
    os.kill(server, signal.SIGKILL)
    until(lambda: client.execution(writer.id).attempt == 2)
    client.cancel(writer.id)
    client.wait(writer.id, 60)
    reader = client.run(mounting("cat $ZOE_VOLUME_DATA/kept"))
    client.wait(reader.id, 60)
    assert reader.output() == "words\n"
    client.remove_volume("data")
    assert client.volumes().volumes == []
    assert not list((installation.workspaces / ".blocks").iterdir())
    assert (attachment.processes_of(directory), mounts.mounts_below(directory)) == (set(), [])
