"""Programs of two users of one tenant on one node: what one tries to reach of the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.local.support import ANN, BOB, start_of
from tests.support.swarm_backend import SwarmHarness, peers, small
from tests.swarm.cluster import Cluster
from zoe_lib.domain.applications.application import ComponentSecret, Port
from zoe_master.backends.base import ObservedState, ServiceSecrets

WORDS = ("a-variable-of-ann", "a-file-of-ann", "a-secret-of-ann", "served-by-ann")


def test_a_program_of_another_user_reaches_nothing(swarm: Cluster, harness: SwarmHarness) -> None:
    variable, text, secret, served = WORDS
    harness.reopen()
    harness.base.chmod(0o755)
    workspaces = harness.base / "workspaces"
    workspaces.mkdir(mode=0o755)
    harness.settings = replace(harness.settings, user="", workspaces_dir=workspaces, publish_ports=False)
    script = (
        f"echo {text} > {{workspace}}/mine; echo {text} > /tmp/mine; while :; do echo {served} | nc -l -p 8080; done"
    )
    hers = small(
        script, environment=(("WORD", variable),), ports=(Port("main", 8080),), secrets=(ComponentSecret("db", "db"),)
    )
    harness.backend.start(
        start_of(hers, "a.c.0.1", peers=peers("a.c.0.1"), system_user=ANN, secrets=ServiceSecrets({"db": secret}))
    )
    harness.reach("a.c.0.1", ObservedState.READY)
    harness.until((workspaces / "tenant" / "ann" / "mine").exists)
    api: Any = swarm.manager.api
    [container] = api.containers(filters={"label": "zoe.execution=a"})
    addresses = [
        entry["IPAddress"] for entry in container["NetworkSettings"]["Networks"].values() if entry["IPAddress"]
    ]
    bridged = api.inspect_network("docker_gwbridge")["Containers"].values()
    addresses += [end["IPv4Address"].partition("/")[0] for end in bridged]
    tries = [
        *(f"nc -w 1 {address} 8080 < /dev/null" for address in (*addresses, "c-0.a", "tasks.zoe-c")),
        *(f"cat {path}" for path in ("/workspace/../ann/mine", f"{workspaces}/tenant/ann/mine", "/shared/../ann/mine")),
        "cat /workspace/mine", "cat /tmp/mine", "cat /run/secrets/zoe-secrets/db", "ls -R /workspace /run/secrets",
        "for one in /proc/[1-9]*; do tr '\\0' ' ' < $one/environ; ls -l $one/cwd $one/fd; done",
        "cat /proc/[0-9]*/cmdline",
        "ln -s ../ann/mine /workspace/link; cat /workspace/link", "echo /proc has $(ls -d /proc/[0-9]* | wc -l)",
        "id -u", "exit 7",
    ]  # fmt: skip
    harness.backend.start(
        start_of(small("; ".join(tries)), "b.c.0.1", user="bob", system_user=BOB, peers=peers("b.c.0.1"))
    )
    ended = harness.reach("b.c.0.1", ObservedState.ENDED)
    output = harness.output("b.c.0.1")
    assert ended.exit_code == 7, output
    assert output.splitlines()[-1] == str(BOB.uid)
    own = "; ".join(tries)  # its own command line names the files, not their contents
    assert not [word for word in WORDS if word in output.replace(own, "")], output
    assert int(output.rpartition("/proc has ")[2].split()[0]) < 10
    assert len(addresses) >= 2
    still = harness.seen("a.c.0.1")
    assert still is not None
    assert still.state is ObservedState.READY
