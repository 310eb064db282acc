"""Addresses and Python exceptions in errors of engines and clients are shown to operators only."""

from __future__ import annotations

import re

import pytest
import requests
from docker.errors import APIError

from zoe_master.backends.engine.errors import error_text, error_text_of, words_of

SAID = {
    "HTTPSConnectionPool(host='10.213.7.3', port=2376): Max retries exceeded with url: /v1.41/containers/json "
    "(Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object>: Failed to establish it'))",
    "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing dial tcp '
    '10.213.7.1:2377: connect: connection refused"',
    "Get https://registry.example.org/v2/: x509: certificate signed by unknown authority",
    "Error response from daemon: lookup registry on [fd00::53]:53: no such host",
    "error creating external connectivity: driver failed programming: bind for 0.0.0.0:8080 failed",
    "error while creating mount source path: failed to mount /data/overlay2/l/ABC: no such file or directory",
    "failed to create task: stat /data/containers/0a1b/mounts: no such file or directory",
    "OCI runtime create failed: container_linux.go:380: starting container process caused: process_linux.go:545: x",
    'runc create failed: unable to start container process: error mounting "/x" to rootfs at "/x": not a directory',
    "unable to find user: open /var/lib/docker/image/etc/passwd: permission denied",
    "UnixHTTPConnectionPool(host='localhost', port=None): Read timed out. (read timeout=10)",
}
KEPT = {
    "No such image: zoe/spark:latest",
    'OCI runtime create failed: exec: "nothing": executable file not found in $PATH: unknown',
    "no suitable node (insufficient resources on 1 node)",
    "The swarm does not have a leader.",
    "invalid mount config: duplicate mount point: /x",
}
HIDDEN = re.compile(
    r"overlay2|/data/|/var/lib|rootfs|runc|linux\.go|\d+\.\d+\.\d+\.\d+|fd00|https?:|Pool|Error\(|Disconnected|registry"
)


@pytest.mark.parametrize("words", sorted(SAID))
def test_addresses_and_exceptions_are_for_operators(words: str) -> None:
    message, detail = error_text("it failed", words)
    assert not HIDDEN.search(message)
    assert message.startswith("it failed; operators see")
    assert detail == words


@pytest.mark.parametrize("words", sorted(KEPT))
def test_useful_errors_are_shown_to_the_user(words: str) -> None:
    assert error_text("it failed", words) == (f"it failed: {words}", "")


def test_without_an_answer_only_operators_see_what_the_client_says() -> None:
    for error in (requests.ConnectionError("node-3 away"), TimeoutError("timed out"), APIError("no response")):
        assert error_text_of("it failed", error).message.startswith("it failed; operators see")
        assert error_text_of("it failed", error).detail == words_of(error)
        assert not HIDDEN.search(words_of(error))


def test_error_of_the_users_command_is_shown_without_the_runtime() -> None:
    command = 'exec: "nothing": executable file not found in $PATH'
    words = f"failed to create task: OCI runtime create failed: runc create failed: {command}: unknown"
    assert error_text("it failed", words) == (f"it failed: {command}", words)


def test_a_full_disk_is_named_without_its_path() -> None:
    words = "mkdir /x/overlay2/ab12-init: no space left on device"
    assert error_text("the engine refuses it", words) == (
        "the engine refuses it: its disk is full; ask the admin for space",
        words,
    )
