"""Application and Component: a description as immutable domain values; see docs/use/glossary.md for the words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from enum import StrEnum

from zoe_client.vocabulary import NotificationKind
from zoe_lib.domain.applications.program import OWN_FILES, OWN_VARIABLES, half_doublings, program_of
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.frozen import changed, once, value
from zoe_lib.domain.values.progress import ProgressProbe
from zoe_lib.domain.values.resources import MEMORY_BYTES_MAX, Resources, total
from zoe_lib.domain.values.scaling import ScalingRule
from zoe_lib.domain.values.storage import StorageDemand


class ApplicationKind(StrEnum):
    """Batch applications end by themselves; interactive ones end by cancel or time limit."""

    BATCH = "batch"
    INTERACTIVE = "interactive"


class PortProtocol(StrEnum):
    """Protocol of a port; only http can be proxied to users."""

    TCP = "tcp"
    HTTP = "http"


@value(frozen=True, slots=True)
class PortSignIn:
    """Sign-in of Zoe's proxy at a port: a header with `scheme`, if any, and the secret of the attempt.

    The service finds the secret in a file, see `{secret_file}`; no browser sees it.
    """

    header: str = "Authorization"
    scheme: str = "Bearer"

    def value(self, secret: str) -> str:
        """Return the value of the header."""
        return f"{self.scheme} {secret}" if self.scheme else secret


@value(frozen=True, slots=True)
class Port:
    """A named port of a component. `number` is its value inside a container; back-ends may map it elsewhere."""

    name: str
    number: int
    protocol: PortProtocol = PortProtocol.TCP
    path: str = "/"
    proxied: bool = False
    sign_in: PortSignIn | None = None


class ProbeKind(StrEnum):
    """Kinds of readiness probes: a connection, or an HTTP answer with a status below 500."""

    TCP = "tcp"
    HTTP = "http"


@value(frozen=True, slots=True)
class Probe:
    """Readiness probe: `port` (by name) must answer within `timeout_s` of the start; it is probed every
    `interval_s`.
    """

    kind: ProbeKind
    port: str
    path: str = "/"
    interval_s: float = 1.0
    timeout_s: float = 120.0


@value(frozen=True, slots=True)
class Volume:
    """A named volume of the tenant, or a host path from the admin's allow-list, mounted at `target`."""

    target: str
    name: str | None = None
    host_path: str | None = None
    read_only: bool = False


@value(frozen=True, slots=True)
class ComponentSecret:
    """A secret of the user or the tenant for each instance: a file of this name, or a variable."""

    name: str
    file: str = ""
    variable: str = ""


@value(frozen=True)
class ComponentSource:
    """A git repository that Zoe clones into the workspace before a service starts.
    ref: branch, tag or commit; empty: the target of the repository's HEAD. into: directory below the workspace. secret:
    name of the secret for access, a token or a private key; empty: none.
    """

    url: str
    ref: str = ""
    into: str = ""
    secret: str = ""


@value(frozen=True)
class Component:
    """One container template. The first `essential_count` instances are essential, the rest elastic.

    `reservation` is taken off the node; the limits bound the use of an instance. Without limits, memory is limited to
    the reservation, and cores are not: an instance may use unreserved cores. Texts in `command`, `environment` and
    `work_dir` may hold address templates such as `{host:master}`. `labels` are node labels that an instance requires.
    `files`: name and text of each file that its services find below `{files}`. `requirements`: Python packages in
    normal form, sorted, installed for its services; `build_requirements`: Zoe may build those without a wheel.
    `sources`: repositories that Zoe clones into the workspace before a service starts. `scaling`: rule for the number
    of instances while it runs; only elastic ones start or stop. `progress`: where its first instance reports the
    progress of the execution. `api`: rights of its instances at the API, with a token of the attempt: `jobs`, or none.
    """

    name: str
    image: str
    reservation: Resources
    command: tuple[str, ...] = ()
    work_dir: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    volumes: tuple[Volume, ...] = ()
    cores_limit_milli: int | None = None
    memory_limit_bytes: int | None = None
    shm_bytes: int | None = None
    essential_count: int = 1
    total_count: int = 1
    preferred_count: int | None = None
    startup_order: int = 0
    labels: tuple[tuple[str, str], ...] = ()
    ports: tuple[Port, ...] = ()
    readiness: Probe | None = None
    scaling: ScalingRule | None = None
    progress: ProgressProbe | None = None
    ends_application: bool = False
    read_only_root: bool = False
    stop_grace_s: float = 10.0
    files: tuple[tuple[str, str], ...] = ()
    secrets: tuple[ComponentSecret, ...] = ()
    requirements: tuple[str, ...] = ()
    build_requirements: bool = False
    sources: tuple[ComponentSource, ...] = ()
    api: str = ""

    @property
    def elastic_count(self) -> int:
        """Return the number of elastic instances."""
        return self.total_count - self.essential_count

    @property
    def has_extra_instances(self) -> bool:
        """Return whether it has instances beyond its preferred count."""
        return self.preferred_count is not None and self.preferred_count < self.total_count

    def is_preferred(self, index: int) -> bool:
        """Return whether that instance is within its preferred count; all are where none is given."""
        return self.preferred_count is None or index < self.preferred_count

    @property
    def secret_names(self) -> frozenset[str]:
        """Return the names of all stored secrets that the component needs."""
        asked = {use.name for use in self.secrets} | {source.secret for source in self.sources if source.secret}
        return frozenset(asked)

    @property
    def has_secret(self) -> bool:
        """Return whether its services get the secret of the proxy's sign-in."""
        return any(port.sign_in is not None for port in self.ports)

    def program_texts(self) -> Iterator[str]:
        """Yield the texts that say what an instance runs, without Zoe's own files and variables."""
        yield from self.command
        yield from (f"{name}={text}" for name, text in self.environment if not name.startswith(OWN_VARIABLES))
        yield from (text for name, text in self.files if not name.startswith(OWN_FILES))
        yield from self.requirements
        yield from (f"{source.url} {source.ref}" for source in self.sources)

    @once
    def demand(self) -> Hashable:
        """Return the demand of an instance on a node. Components with the same demand fit the same nodes."""
        wanted = self.reservation
        return wanted.cores_milli, wanted.memory_bytes, tuple(sorted(wanted.devices.items())), self.labels


@value(frozen=True, slots=True)
class RetryRule:
    """Conditions for a retry after a failed attempt, and differences of the next one.
    pause_s: before the first retry, doubled each time up to pause_max_s; None: the policy's. exit_codes: retry only
    after these; empty: after any. memory_factor: growth of the reservation of a component that ran out of memory; None:
    no retry in that case, which would end in the same way.
    """

    pause_s: float | None = None
    pause_max_s: float | None = None
    exit_codes: tuple[int, ...] = ()
    memory_factor: float | None = None


DEFAULT_RETRY = RetryRule()
# Sums of amounts beyond this do not fit into columns of 64 bits.
_COLUMN_MAX = 2**62


@value(frozen=True)
class Application:
    """An application, with its frameworks expanded and all checks done.

    `expected_run_s` is the hint for size-based policies: the expected run time with all services. `results`: paths of
    its result files in the workspace; `*`, `?` and `[...]` match parts of a name. Priority and deadline are only
    defaults; they belong to the Execution. `default_deadline`: the deadline as a time, parsed at each submission,
    instead of `default_deadline_s`. `promise`: requests a promise that it ends by its deadline.
    """

    name: str
    components: tuple[Component, ...]
    kind: ApplicationKind = ApplicationKind.BATCH
    description: str = ""
    expected_run_s: float | None = None
    time_limit_s: float | None = None
    retries: int = 0
    retry: RetryRule = DEFAULT_RETRY
    notify: tuple[NotificationKind, ...] = ()
    default_priority: int = 0
    default_deadline_s: float | None = None
    storage: StorageDemand | None = None
    results: tuple[str, ...] = ()
    default_deadline: str | None = None
    promise: PromiseWish | None = None

    def component(self, name: str) -> Component:
        """Return the component of that name; KeyError when there is none."""
        return self._by_name[name]

    @once
    def _by_name(self) -> dict[str, Component]:
        return {component.name: component for component in reversed(self.components)}

    @once
    def ending_component(self) -> Component | None:
        """Return the component that ends the application with its own end, if there is one."""
        return next((c for c in self.components if c.ends_application), None)

    @once
    def progress_component(self) -> Component | None:
        """Return the component that reports the progress, if there is one."""
        return next((c for c in self.components if c.progress is not None), None)

    def instances(self) -> Iterator[tuple[Component, int]]:
        """Yield every (component, index) in start-up order; an index below essential_count is essential."""
        for component in sorted(self.components, key=lambda c: c.startup_order):
            for index in range(component.total_count):
                yield component, index

    @once
    def instance_count(self) -> int:
        """Return the number of instances, essential and elastic."""
        return sum(component.total_count for component in self.components)

    @once
    def core_groups(self) -> tuple[tuple[Component, int], ...]:
        """Return the components with essential instances and their numbers, in start-up order."""
        ordered = sorted(self.components, key=lambda c: c.startup_order)
        return tuple((c, c.essential_count) for c in ordered if c.essential_count)

    @once
    def plain_core(self) -> tuple[int, int, int]:
        """Return cores in thousandths, bytes of memory and number of the essential services, if these say all of them:
        zeros if they are of several kinds, or request labels, devices, or amounts beyond whole columns.
        """
        if len(self.core_groups) != 1:
            return 0, 0, 0
        ((component, count),) = self.core_groups
        amount = component.reservation
        plain = not component.labels and not amount.devices
        within = max(amount.cores_milli, amount.memory_bytes) * count < _COLUMN_MAX
        return (amount.cores_milli, amount.memory_bytes, count) if plain and within else (0, 0, 0)

    @once
    def program(self) -> str:
        """Return what it runs, as `program_of` says it; names, instance counts and reservations do not matter."""
        return program_of((component.image, component.program_texts()) for component in self.components)

    @once
    def run_shape(self) -> tuple[str, int, int]:
        """Return what its run time is expected by: program, and cores and requested run time in half doublings."""
        request_s = self.time_limit_s or self.expected_run_s or 0.0
        return self.program, half_doublings(self._total_resources.cores_milli), half_doublings(request_s)

    def core_resources(self) -> Resources:
        """Return the sum of all essential services' reservations."""
        return self._core_resources

    def total_resources(self) -> Resources:
        """Return the sum of all services' reservations."""
        return self._total_resources

    @once
    def _core_resources(self) -> Resources:
        return total(c.reservation * c.essential_count for c in self.components)

    @once
    def _total_resources(self) -> Resources:
        return total(c.reservation * c.total_count for c in self.components)

    @once
    def malleable(self) -> bool:
        """Return whether it has elastic services; else it is rigid."""
        return any(component.elastic_count for component in self.components)

    @once
    def has_extra_instances(self) -> bool:
        """Return whether a component has instances beyond its preferred count."""
        return any(component.has_extra_instances for component in self.components)

    @once
    def images(self) -> tuple[str, ...]:
        """Return the images of all components, each once, by name."""
        return tuple(sorted({component.image for component in self.components}))


def same_instances(one: Application, other: Application) -> bool:
    """Return whether both have the same components, the same numbers of instances, and the same start-up order."""
    return _instances(one) == _instances(other)


def _instances(application: Application) -> list[tuple[str, int, int | None, int, int]]:
    return [
        (c.name, c.essential_count, c.preferred_count, c.total_count, c.startup_order) for c in application.components
    ]


def with_memory(application: Application, memory_bytes: Mapping[str, int]) -> Application:
    """Return the application with other reservations of memory, by component; limits grow in proportion."""
    if not memory_bytes:
        return application
    return changed(application, components=tuple(_with_memory(c, memory_bytes) for c in application.components))


def with_counts(application: Application, total_counts: Mapping[str, int]) -> Application:
    """Return the application with other numbers of instances, by component."""
    return changed(
        application,
        components=tuple(
            changed(c, total_count=total_counts[c.name]) if c.name in total_counts else c
            for c in application.components
        ),
    )


def _with_memory(component: Component, memory_bytes: Mapping[str, int]) -> Component:
    more = memory_bytes.get(component.name)
    if more is None:
        return component
    before, limit = component.reservation.memory_bytes, component.memory_limit_bytes
    if limit is not None and before:
        limit = min(round(limit * (more / before)), MEMORY_BYTES_MAX)
    # More could not be read back: a single such description would keep a master from starting.
    reservation = changed(component.reservation, memory_bytes=min(more, MEMORY_BYTES_MAX))
    return changed(component, reservation=reservation, memory_limit_bytes=limit)
