"""Watch one engine: list its containers, then follow its events, and start again whenever the stream breaks."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from docker.errors import APIError
from docker.types import CancellableStream

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.platform import ImageFacts
from zoe_lib.domain.executions.execution import ServiceId
from zoe_lib.domain.values.resources import NOTHING, Resources
from zoe_master.backends.engine.daemon.container_facts import (
    SIGKILL,
    ContainerFacts,
    container_facts,
    end_container,
    ended_by_event,
    is_surplus,
    wrong_shares,
)
from zoe_master.backends.engine.daemon.dialects import docker_event, signals_of
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.daemon.foreign import (
    CpuUsage,
    ForeignContainer,
    cpu_seconds,
    foreign_container,
    foreign_use,
    memory_used,
)
from zoe_master.backends.engine.daemon.hardening import NO_IMAGE, EngineHardening
from zoe_master.backends.engine.daemon.image_facts import EngineImages, ImageCommand
from zoe_master.backends.engine.daemon.probe_containers import sweep_probes
from zoe_master.backends.engine.daemon.scratch_volumes import remove_scratch, sweep_scratch
from zoe_master.backends.engine.errors import UNREACHABLE, status_of, words_of
from zoe_master.backends.engine.spec.naming import labels

_log = logging.getLogger(__name__)
_FIRST_OF_ITS_KIND = {"start", "kill", "die", "oom", "destroy", "pause", "unpause"}
_NETWORK_NEWS = {"connect", "disconnect"}
_IMAGE_NEWS = {"pull", "tag", "untag", "delete", "import", "load"}
_SWEEP_INTERVAL_S = 120.0
_OVERLAP_S = 2.0  # clocks of two machines differ; receiving an event twice is harmless


class EngineListener(Protocol):
    """Receives the events; called from the engine's thread."""

    def container_seen(self, facts: ContainerFacts, after_gap: bool) -> None: ...  # noqa: D102

    def exec_ended(self, exec_id: str, exit_code: int, at_s: float) -> None: ...  # noqa: D102

    def engine_changed(self, node: str, after_gap: bool) -> None: ...  # noqa: D102


class EngineEvents:
    """Watches one engine from a thread of its own.

    `problem`: why the watch fails, or empty; `unfit`: why the node must get no services, whatever Swarm reports.
    """

    def __init__(
        self,
        node: str,
        engine: Engine,
        installation: str,
        listener: EngineListener,
        hardening: EngineHardening,
        images: EngineImages,
        retry_s: float,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self.node = node
        self.engine = engine
        self.images: Mapping[str, ImageFacts] | None = None
        self.foreign = Resources()
        self.foreign_count = 0
        self.problem = "not asked yet"
        self.unfit = hardening.unasked
        self.first_look = threading.Event()
        self._installation = installation
        self._listener = listener
        self._hardening = hardening
        self._images = images
        self._retry_s = retry_s
        self._others: dict[str, ForeignContainer] = {}
        self._running: dict[str, ContainerFacts] = {}
        self._seen_ended: set[str] = set()
        self._stream: CancellableStream[Any] | None = None
        self._cpu_use = CpuUsage()
        self._sweep_due_s = float("inf")
        self._lock, self._summing = threading.Lock(), threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"zoe-engine-{node}", daemon=True)
        self._thread.start()

    @property
    def reachable(self) -> bool:
        """Return whether the engine answered the last request."""
        return not self.problem

    def command_of(self, image: str) -> ImageCommand | None:
        """Return entry point and arguments of an image by its full name, if known."""
        return self._images.command_of(image)

    def running(self) -> Sequence[ServiceId]:
        """Return the services of our containers that run there, as far as known."""
        with self._lock:
            return [facts.service_id for facts in self._running.values()]

    def sample(self, running: Mapping[str, ServiceId]) -> dict[ServiceId, tuple[float, int]]:
        """Return CPU seconds and memory bytes of these containers (id to service), and update the sum of foreign ones.

        Another thread calls this at intervals, which also detects a silent engine.
        """
        samples: dict[ServiceId, tuple[float, int]] = {}
        try:
            self.engine.api.ping()
            if self._clock.monotonic_s() >= self._sweep_due_s:
                self._sweep()
            for container_id, service in running.items():
                stats = self._stats(container_id)
                if stats is not None:
                    samples[service] = cpu_seconds(stats), memory_used(stats)
            self._sum_up()
        except UNREACHABLE as error:
            self._cannot(error)
            self._break_stream()
        return samples

    def close(self) -> None:
        """End the thread and close the engine's connections."""
        self._closing.set()
        self._break_stream()
        self._thread.join()
        self.engine.close()

    def _run(self) -> None:
        first = True
        while not self._closing.is_set():
            try:
                self._watch(after_gap=not first)
            except UNREACHABLE as error:
                self._cannot(error)
            except Exception:  # an error with one engine must not end the other watches
                _log.exception("watching the engine of %s failed", self.node)
            first = False
            self.first_look.set()
            self._clock.wait(self._closing, self._retry_s)

    def _watch(self, after_gap: bool) -> None:
        since_s = self._clock.now_s() - _OVERLAP_S
        api = self.engine.api
        self._look_at_images()
        own = f"{labels.INSTALLATION}={self._installation}"
        entries = api.containers(all=True, filters={"label": own})
        with self._lock:
            self._running, self._seen_ended = {}, set()
        for entry in entries:
            self._inspect(entry["Id"], after_gap)
        self._poll_foreign()
        self._sweep()
        self.unfit = self._hardening.check(self.engine, self.images or ())
        self.problem = ""
        self.first_look.set()
        self._listener.engine_changed(self.node, after_gap)
        stream: Any = api.events(since=int(since_s), decode=True, filters={"type": ["container", "image", "network"]})
        with self._lock:
            self._stream = stream
        if self._closing.is_set():
            self._break_stream()
        try:
            for event in stream:
                self._process_event(docker_event(event))
        finally:
            self._break_stream()
            with contextlib.suppress(OSError):
                # `close` of the stream shuts the socket down, but leaves closing it to the garbage collector.
                stream._response.close()

    def _sweep(self) -> None:
        """Remove objects of a killed master; young ones may belong to a current check or start."""
        self._sweep_due_s = self._clock.monotonic_s() + _SWEEP_INTERVAL_S
        sweep_probes(self.engine.api, self._installation, self._clock)
        sweep_scratch(self.engine.api, self._installation, self._clock)

    def _process_event(self, event: Mapping[str, Any]) -> None:
        action = event["Action"]
        if event["Type"] == "image":
            if action in _IMAGE_NEWS:
                self._look_at_images()
                if self.unfit.startswith(NO_IMAGE):
                    self.unfit = self._hardening.check(self.engine, self.images or ())
                self._listener.engine_changed(self.node, after_gap=False)
            return
        about = event["Actor"]["Attributes"]
        if event["Type"] == "network":
            if action in _NETWORK_NEWS and about.get("container") in self._running:
                self._inspect(about["container"], after_gap=False)
            return
        of_installation = about.get(labels.INSTALLATION) == self._installation
        if of_installation and action == "exec_die":
            self._listener.exec_ended(about["execID"], int(about["exitCode"]), event["timeNano"] / 1e9)
        elif action in _FIRST_OF_ITS_KIND and of_installation:
            self._report_end(event)
        elif action in _FIRST_OF_ITS_KIND:
            self._poll_foreign()
            self._listener.engine_changed(self.node, after_gap=False)

    def _report_end(self, event: Mapping[str, Any]) -> None:
        """Report an end from the event itself if possible: the engine answers requests only after its cleanup."""
        container_id = event["Actor"]["ID"]
        running = self._running.get(container_id)
        about, at_s = event["Actor"]["Attributes"], event["timeNano"] / 1e9
        if event["Action"] == "die" and container_id in self._seen_ended:
            return  # it was so short that the look at its start has shown its end
        if event["Action"] == "kill":
            if running is not None:
                with self._lock:
                    self._running[container_id] = replace(running, signals=running.signals | signals_of(about))
            return
        if running is not None and event["Action"] == "die":
            facts = end_container(running, int(about["exitCode"]), at_s)
            if facts is None and not self._inspect(container_id, after_gap=False):  # already removed, so by force
                by_force = replace(running, signals=running.signals | {SIGKILL})
                facts = ended_by_event(by_force, int(about["exitCode"]), at_s)
            if facts is not None:
                with self._lock:
                    self._running.pop(container_id, None)
                self._listener.container_seen(facts, after_gap=False)
            return
        if event["Action"] == "destroy":
            with self._lock:
                self._running.pop(container_id, None)
                self._seen_ended.discard(container_id)
            if labels.SCRATCH in about:
                remove_scratch(self.engine.api, about[labels.SCRATCH])
            return
        self._inspect(container_id, after_gap=False)

    def _inspect(self, container_id: str, after_gap: bool) -> bool:
        """Report the engine's present view of the container; return False if it is gone."""
        inspected = self._none_if_gone(lambda: self.engine.api.inspect_container(container_id))
        if inspected is not None and is_surplus(inspected):
            self._end_surplus(inspected)
            return True
        shares = wrong_shares(inspected) if inspected is not None else None
        if shares is not None:
            with contextlib.suppress(APIError):  # it may be ending right now
                self.engine.api.update_container(container_id, cpu_shares=shares)
        facts = container_facts(inspected) if inspected is not None else None
        with self._lock:
            running = self._running.pop(container_id, None)
            if facts is not None and running is not None:
                facts = replace(facts, signals=running.signals)
            if facts is not None and facts.running:
                self._running[container_id] = facts
            elif facts is not None and facts.finished_at_s is not None:
                self._seen_ended.add(container_id)
        if facts is not None:
            self._listener.container_seen(facts, after_gap)
        return inspected is not None

    def _end_surplus(self, inspected: Mapping[str, Any]) -> None:
        """End a surplus task: it uses resources that the scheduler counts as free, and scaling down might end one of
        ours instead.
        """
        if inspected["State"]["Running"]:
            name = inspected["Config"]["Labels"][labels.TASK_NAME]
            _log.warning(
                "the number of tasks of a Zoe service was raised from outside: task %s on %s is ended", name, self.node
            )
            self._none_if_gone(lambda: self.engine.api.kill(inspected["Id"]))

    def _look_at_images(self) -> None:
        self.images = self._images.look(self.engine.api)

    def _poll_foreign(self) -> None:
        running = self.engine.api.containers()
        ids = [c["Id"] for c in running if (c["Labels"] or {}).get(labels.INSTALLATION) != self._installation]
        foreign = {}
        for container_id in ids:
            container = self._others.get(container_id)
            if container is None:
                inspected = self._none_if_gone(lambda entry=container_id: self.engine.api.inspect_container(entry))
                if inspected is None:
                    continue
                container = foreign_container(inspected)
            foreign[container_id] = container
        self._others = foreign
        self._sum_up()

    def _sum_up(self) -> None:
        others = self._others
        unlimited = [i for i, container in others.items() if not (container.memory_bytes and container.cores_milli)]
        with self._summing:  # by the sampling thread and by the thread of the engine's events
            stats = {container_id: self._stats(container_id) or {} for container_id in unlimited}
            cores_milli = self._cpu_use.look(stats)
        used = {
            i: Resources(cores_milli.get(i, 0), memory_used(container_stats)) for i, container_stats in stats.items()
        }
        self.foreign = foreign_use(
            (container, used.get(container_id, NOTHING)) for container_id, container in others.items()
        )
        self.foreign_count = len(others)

    def _stats(self, container_id: str) -> Any:
        return self._none_if_gone(lambda: self.engine.api.stats(container_id, stream=False, one_shot=True))

    @staticmethod
    def _none_if_gone(question: Any) -> Any:
        """Return the result; None if the object is gone."""
        try:
            return question()
        except UNREACHABLE as error:
            if status_of(error) in (404, 409):
                return None
            raise

    def _cannot(self, error: Exception) -> None:
        was, self.problem = self.problem, f"cannot reach its engine: {words_of(error)}"
        if not was:
            self._listener.engine_changed(self.node, after_gap=False)

    def _break_stream(self) -> None:
        with self._lock:
            stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                stream.close()
