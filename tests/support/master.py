"""A real master over the simulated back-end, ticking in a thread of the test's process and answering over ZeroMQ."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.support.waiting import until
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources
from zoe_lib.messaging.server import Server
from zoe_lib.store.base import ExecutionStore
from zoe_master.backends.base import Backend, ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend
from zoe_master.background import metrics
from zoe_master.background.forecast_thread import ForecastThread
from zoe_master.background.promise_thread import PromiseThread
from zoe_master.loop.master import Master
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.system_users import SystemUsers
from zoe_master.loop.tick_recorder import TickRecorder
from zoe_master.rpc.handlers import RpcHandlers
from zoe_master.state.promise_prices import StoredPrices
from zoe_master.waker import TickWaker

GIB = 2**30
NODES = (Node("n1", Resources(4000, 8 * GIB)), Node("n2", Resources(4000, 8 * GIB)))


class TickingMaster:
    """Services behave as `behaviours` says for their component; others run for ever. `files_by`: the back-end that
    serves files, which the simulated one lacks. `real`: a back-end instead of the simulated one, and its waker. `more`:
    for the master.
    """

    def __init__(
        self,
        store: ExecutionStore,
        endpoint: str,
        keys_dir: Path,
        nodes: Sequence[Node] = NODES,
        files_by: Backend | None = None,
        system_users: SystemUsers | None = None,
        real: tuple[Backend, TickWaker] | None = None,
        **more: Any,
    ) -> None:
        self.behaviours: dict[str, ServiceBehaviour] = {}
        backend: Any
        if real is not None:
            backend, self._waker = real
        else:
            self._waker = TickWaker()
            backend = OneAtATime(SimulatedBackend(nodes, SYSTEM_CLOCK, self._waker, self._behave))
        if files_by is not None:
            backend.files = files_by.files
        self.backend = backend
        # The server frees the lock of the previous one when it sees that its connection has ended.
        epoch = until(lambda: store.try_lead("test"))
        self.master = Master(store, self.backend, epoch, tick_recorder=TickRecorder(store, epoch), **more)
        prices = StoredPrices(list)
        decisions = PromiseDecisions(self.master.run_times, prices)
        answers = RpcHandlers(
            self.master, self.backend, self._waker, "test", epoch, system_users=system_users, decisions=decisions
        )
        self._store = store
        self._server = Server(endpoint, keys_dir, answers.handlers(), answers.slow())
        self._stopping = threading.Event()
        self.failure: Exception | None = None
        self._foretelling = ForecastThread(self.master, self._waker)
        self._promising = PromiseThread(self.master, decisions, self._waker)
        self._thread = threading.Thread(target=self._run, name="master")
        self._thread.start()

    def stop(self) -> None:
        """End it, and let the next one lead."""
        self._promising.close()
        self._foretelling.close()
        self._stopping.set()
        self._waker.wake()
        self._thread.join()
        self._server.close()
        self._store.stop_leading()
        assert self.failure is None, self.failure

    def _behave(self, start: ServiceStart) -> ServiceBehaviour:
        return self.behaviours.get(start.component.name, ServiceBehaviour())

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                began_s = time.perf_counter()
                tick = self.master.tick()
                metrics.observe_tick(tick, time.perf_counter() - began_s)
                metrics.observe_usage(self.backend.usage())
                self._waker.wait(0.02)
        except Exception as error:
            self.failure = error


class OneAtATime:
    """The simulated back-end for several threads: the loop, and threads that answer requests."""

    def __init__(self, backend: SimulatedBackend) -> None:
        self._backend = backend
        self._lock = threading.RLock()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._backend, name)

        def locked(*args: Any, **more: Any) -> Any:
            with self._lock:
                return method(*args, **more)

        return locked
