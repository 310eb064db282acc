"""The common form of all traces: jobs, and their cluster."""

from __future__ import annotations

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources


class TraceError(Exception):
    """A file is not a valid trace; the message says where."""


@value(frozen=True, slots=True)
class Job:
    """A rigid job: its `services` each hold `reservation` for `run_s` seconds.

    `submit_s` and all times are the log's own seconds; `request_s` is the user's estimate of the run time. `labels` are
    required node labels. `bytes_read` and `bytes_written` are its transfers, and `application` its program, if the log
    has them.
    """

    id: int
    submit_s: float
    run_s: float
    request_s: float
    user: str
    reservation: Resources
    services: int = 1
    labels: tuple[tuple[str, str], ...] = ()
    bytes_read: int = 0
    bytes_written: int = 0
    application: str = ""

    @property
    def processors(self) -> float:
        """Return the cores of all its services."""
        return self.reservation.cores_milli * self.services / 1000


@value(frozen=True, slots=True)
class Trace:
    """Jobs in order of submission, and the nodes they ran on.

    `pool`: the nodes stand for one pool of processors, as in most of the literature: one node that holds all.
    """

    name: str
    nodes: tuple[Node, ...]
    jobs: tuple[Job, ...]
    pool: bool = False

    @property
    def processors(self) -> float:
        """Return the cores of all nodes."""
        return sum(node.total.cores_milli for node in self.nodes) / 1000


@value(frozen=True, slots=True)
class Run:
    """A job's time on the cluster, of the successful attempt if there were several: begin and end in the log's
    seconds.
    """

    job: Job
    start_s: float
    end_s: float

    @property
    def wait_s(self) -> float:
        """Return the time from submission to start."""
        return self.start_s - self.job.submit_s

    @property
    def turnaround_s(self) -> float:
        """Return the time from submission to end."""
        return self.end_s - self.job.submit_s


def pool_of(processors: int) -> tuple[Node, ...]:
    """Return one node for a whole machine with this many processors."""
    return (Node("machine", Resources(processors * 1000)),)


def processors_of(count: int) -> Resources:
    """Return the resources of a service of a job with this many processors; logs of one pool do not cover memory."""
    return Resources(count * 1000)
