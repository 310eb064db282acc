"""Secrets of services on real engines: files that their user alone can read, gone with the attempt."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.local.support import ANN
from tests.support.swarm_backend import SwarmHarness, small
from zoe_lib.domain.applications.application import ComponentSecret
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState, ServiceSecrets

VALUE = "a-value-that-nobody-may-see\nwith two lines"
GIVEN = ServiceSecrets({"db": VALUE})
ASKED = (ComponentSecret("db", "db.txt"),)


def test_a_secret_is_a_file_of_the_user_and_nowhere_else(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, user="")
    script = 'cat {secrets}/db.txt; echo; stat -c "%a %u" {secrets}/*; env; exec sleep 1000'
    harness.start(small(script, secrets=ASKED), secrets=GIVEN)
    harness.until(lambda: "PATH=" in harness.output("e.c.0.1"))
    shown = harness.output("e.c.0.1")
    assert shown.startswith(f"{VALUE}\n400 {ANN.uid}\n")
    assert shown.count(VALUE) == 1
    api: Any = harness.cluster.manager.api
    [container] = api.containers(filters={"label": "zoe.execution=e"})
    seen = [api.inspect_container(container["Id"]), *api.services(), *api.tasks(), *api.secrets()]
    assert "a-value-that-nobody-may-see" not in json.dumps(seen)
    other = small("ls /run/secrets/zoe-secrets 2>&1", name="d")
    harness.start(other, "f.d.0.1")
    assert harness.reach("f.d.0.1", ObservedState.ENDED).exit_code != 0


def test_secret_left_by_a_crash_is_removed(harness: SwarmHarness) -> None:
    harness.start(small("exec sleep 1000", secrets=ASKED), secrets=GIVEN)
    harness.reach("e.c.0.1", ObservedState.READY)
    assert [name for name in harness.things()["secrets"] if name not in harness.before["secrets"]]
    harness.reopen()  # a new back-end; the end of each test checks that no Swarm secret is left


def test_a_secret_that_cannot_be_had_or_be_a_variable_is_named(harness: SwarmHarness) -> None:
    harness.start(small("true", secrets=ASKED), secrets=ServiceSecrets(refusal="no secret db"))
    harness.start(small("true", secrets=(ComponentSecret("db", variable="DB"),)), "f.c.0.1", secrets=GIVEN)
    for service, words in (("e.c.0.1", "no secret db"), ("f.c.0.1", "as a variable; use a file")):
        ended = harness.reach(service, ObservedState.ENDED)
        assert ended.cause is Cause.START_FAILED
        assert words in ended.message
