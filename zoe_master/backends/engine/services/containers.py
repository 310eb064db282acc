"""Work on single containers, done by the pool: end them, probe readiness, copy output."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.application import Probe
from zoe_master.backends.base import BackendError, Left, ObservedState, client_is_waiting
from zoe_master.backends.engine.daemon import output
from zoe_master.backends.engine.daemon.container_facts import seconds
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.daemon.readiness import waiting_command
from zoe_master.backends.engine.errors import UNREACHABLE, status_of, words_of
from zoe_master.backends.engine.services.records import Record
from zoe_master.backends.engine.services.service_registry import Services

_log = logging.getLogger(__name__)
_LOOK_S = 0.1  # how soon a reader that waits for another one's copy notices that its own client has left
_PATIENCE_S = 300.0
"""How long to wait for output while an engine does not answer; the container stays that long."""
_READ_S = 2  # less than the API waits for the master
_GONE = (404, 409)  # the container is gone, or has stopped


def terminate(engine: Engine, record: Record, clock: Clock = SYSTEM_CLOCK) -> None:
    """Ask the container to end; `kill` follows after the grace period."""
    assert record.container is not None
    record.kill_at_s = clock.monotonic_s() + record.stop_grace_s
    if not _signal(engine, record, record.container.stop_signal):
        record.stop_sent = False  # retried when the engine is back


def kill(engine: Engine, record: Record, clock: Clock = SYSTEM_CLOCK) -> None:
    """Kill the container now; retried after another grace period if the engine does not answer."""
    record.kill_at_s = clock.monotonic_s() + max(record.stop_grace_s, 1.0)
    _signal(engine, record, "SIGKILL")


def ask_readiness(engine: Engine, record: Record, probe: Probe, registry: Services) -> None:
    """Start the readiness exec in the container; the engine reports its end as an event."""
    assert record.container is not None
    command = waiting_command(probe, record.ports[probe.port], record.host)
    try:
        api = engine.api
        made = api.exec_create(record.container.container_id, command, stdout=api.podman, stderr=False)
        with registry.lock:
            record.asking = made["Id"]
        if api.podman:
            Thread(target=_await_exec, args=(engine, made["Id"], registry), name="zoe-exec", daemon=True).start()
        else:
            api.exec_start(made["Id"], detach=True)
    except UNREACHABLE as error:
        with registry.lock:
            record.asking = None
        if status_of(error) not in _GONE:
            _log.warning("cannot probe service %s for readiness: %s", record.service_id, error)


def _await_exec(engine: Engine, exec_id: str, registry: Services) -> None:
    """Run an exec, and report its end: Podman sends no event for it, and does not know of it if it is detached."""
    api, exit_code = engine.new_client(), 1
    try:
        api.exec_start(exec_id)
        exit_code = int(api.exec_inspect(exec_id)["ExitCode"])
    except UNREACHABLE as error:
        _log.info("a readiness exec is repeated: %s", words_of(error))
    finally:
        api.close()
    registry.ready(exec_id, exit_code, SYSTEM_CLOCK.now_s())


@contextmanager
def output_of(record: Record, left: Left) -> Iterator[None]:
    """Hold the kept output exclusively; BackendError if the client leaves while another reader holds it."""
    while not record.output_lock.acquire(timeout=_LOOK_S):
        if left():
            raise BackendError(f"another reader is reading the output of service {record.service_id}")
    try:
        yield
    finally:
        record.output_lock.release()


def has_more(record: Record, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Return whether to wait for its engine, which has the rest of its output; not if the node is lost."""
    end = record.mark.end
    if end is None or end.state is not ObservedState.ENDED or not record.container_id:
        return False
    return clock.now_s() < end.at_s + _PATIENCE_S


def copy_output(
    engine: Engine | None, record: Record, registry: Services, bytes_max: int, left: Left = client_is_waiting
) -> bool:
    """Update the kept output from the engine; complete once the container has ended, even if parts are missing. Return
    whether the engine has answered, if it had to.

    BackendError if the client has left: copied output stays, and the next copy continues from there.
    """
    with output_of(record, left):
        answered = True
        if record.collected:
            return answered
        waits = has_more(record)
        final = record.final and not (engine is None and waits)
        place = registry.marks.place(record.service_id)
        container_id = record.container_id
        entries: Iterator[tuple[str, bytes]] = iter(())
        if engine is not None and container_id:
            since = output.position_of(place).stamp
            entries = _while_wanted(_entries(engine, container_id, since), left)
        try:
            output.append(place, entries, final, bytes_max)
        except UNREACHABLE as error:
            answered = status_of(error) is not None
            final = final and (status_of(error) in _GONE or not waits)
            if final:
                _log.warning("the last output of service %s is lost: %s", record.service_id, error)
                output.append(place, (), final, bytes_max)
        record.collected = final
        return answered


def remove(engine: Engine, record: Record) -> None:
    """Remove an ended container whose output is kept. Otherwise Swarm would do so some seconds after its service is
    gone.
    """
    if not record.container_id or not record.collected:
        return
    try:
        engine.api.remove_container(record.container_id, v=True)
    except UNREACHABLE as error:
        if status_of(error) not in _GONE:
            _log.info("the removal of a container of service %s is left to Swarm: %s", record.service_id, error)


def discard(engine: Engine, tags: Sequence[str]) -> None:
    """End and remove all containers that carry all of these labels."""
    try:
        for container in engine.api.containers(all=True, filters={"label": list(tags)}):
            engine.api.remove_container(container["Id"], v=True, force=True)
    except UNREACHABLE as error:
        if status_of(error) not in _GONE:
            _log.info("the removal of containers with %s is left to Swarm: %s", tags, error)


def _entries(engine: Engine, container_id: str, since: str) -> Iterator[tuple[str, bytes]]:
    since_s = int(seconds(since) or 0) if since else None
    api = engine.api
    with api.waiting_at_most(_READ_S):
        found = api.logs(container_id, stream=True, follow=False, timestamps=True, since=since_s)
    for entry in found:
        stamp, _, text = entry.partition(b" ")
        yield stamp.decode(), text


def _while_wanted(entries: Iterator[tuple[str, bytes]], left: Left) -> Iterator[tuple[str, bytes]]:
    for entry in entries:
        if left():
            raise BackendError("the reader of this output has gone")
        yield entry


def _signal(engine: Engine, record: Record, signal: str) -> bool:
    """Return False if the signal could not be sent."""
    assert record.container is not None
    try:
        engine.api.kill(record.container.container_id, signal)
    except UNREACHABLE as error:
        return status_of(error) in _GONE
    return True
