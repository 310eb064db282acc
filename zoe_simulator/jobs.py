"""What every format of traces is read into: jobs, and the cluster that they are for."""

from __future__ import annotations

from zoe_lib.domain.cluster import Node
from zoe_lib.domain.resources import Resources
from zoe_lib.domain.values import value


class TraceError(Exception):
    """A file is no trace; the message says where it goes wrong."""


@value(frozen=True, slots=True)
class Job:
    """A rigid job: so many `services` that each hold `reservation` for `run_s` seconds.

    `submit_s` and all times are the log's own seconds; `request_s` is the user's estimate of the run time. `labels`
    are node labels that it insists on. `bytes_read` and `bytes_written` are what it moves, and `application` is what it
    runs, where the log says so.
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
        """Cores of all its services."""
        return self.reservation.cores_milli * self.services / 1000


@value(frozen=True, slots=True)
class Trace:
    """Jobs in order of submission, and the nodes they ran on.

    `pool` says that the nodes stand for one pool of processors, as in most of the literature: one node that holds all.
    """

    name: str
    nodes: tuple[Node, ...]
    jobs: tuple[Job, ...]
    pool: bool = False

    @property
    def processors(self) -> float:
        """Cores of all nodes."""
        return sum(node.total.cores_milli for node in self.nodes) / 1000


@value(frozen=True, slots=True)
class Run:
    """A job's time on the cluster, the successful try where there were several: begin and end in the log's seconds."""

    job: Job
    start_s: float
    end_s: float

    @property
    def wait_s(self) -> float:
        """From submission to start."""
        return self.start_s - self.job.submit_s

    @property
    def turnaround_s(self) -> float:
        """From submission to end."""
        return self.end_s - self.job.submit_s


def pool_of(processors: int) -> tuple[Node, ...]:
    """One node that stands for a whole machine of so many processors."""
    return (Node("machine", Resources(processors * 1000)),)


def processors_of(count: int) -> Resources:
    """Return what a service holds that is a job of so many processors; logs of one pool say nothing of memory."""
    return Resources(count * 1000)
