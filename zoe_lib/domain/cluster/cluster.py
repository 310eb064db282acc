"""Nodes, their holds, and whether an application can ever fit on them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from zoe_client.words.amounts import cores, count_with_noun, size
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.applications.exact_packing import PlacementShortage, StepBudget
from zoe_lib.domain.applications.packing import pack_by_any_method
from zoe_lib.domain.executions.gateway import NO_GATEWAY, bearing_component, core_groups, core_total
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.resources import NOTHING, Resources

# Bytes per second that a node's path to the object store can transfer.
STORAGE_PATH_LABEL = "storage_bytes_per_s"
# Names or addresses of a node in the object store, separated by commas, if the back-end does not know them.
STORAGE_HOST_LABEL = "storage_host"


@value(frozen=True, slots=True)
class NodeHold:
    """An admin's hold: the node is reserved for one tenant, or drained if `tenant` is None.

    From `since_s` until before `until_s` (None: until it is released), seconds since the epoch. Services on the node
    continue. Before the hold begins, other tenants may only use the node for services that are expected to end by then.
    """

    tenant: str | None = None
    since_s: float = 0.0
    until_s: float | None = None
    note: str = ""

    def refuses(self, tenant: str, begins_s: float, ends_s: float) -> bool:
        """Return whether the hold keeps a tenant from using the node for that time."""
        if self.tenant == tenant:
            return False
        return ends_s > self.since_s and not self.has_ended(begins_s)

    def has_ended(self, now_s: float) -> bool:
        """Return whether the hold has ended."""
        return self.until_s is not None and self.until_s <= now_s


@value(frozen=True, slots=True)
class Node:
    """A machine as the back-end sees it.

    `foreign` is the present use by foreign programs; `usable` is the total that Zoe may reserve. `gateway` is the
    reservation of an execution's gateway here, the same on all nodes of a back-end. `holds` are the admins' holds,
    earliest first. `addresses` are further addresses of the node, besides its name.
    """

    name: str
    total: Resources
    foreign: Resources = field(default_factory=Resources)
    labels: Mapping[str, str] = field(default_factory=dict)
    ready: bool = True
    containers: int = 0
    message: str = ""
    gateway: Resources = NO_GATEWAY
    holds: tuple[NodeHold, ...] = ()
    addresses: tuple[str, ...] = ()

    @property
    def usable(self) -> Resources:
        """Return the total without the use by foreign programs."""
        return self.total - self.foreign

    def open_to(self, tenant: str, begins_s: float, ends_s: float) -> bool:
        """Return whether the tenant may use the node for that time: it is ready, and no hold forbids it."""
        return self.ready and self.hold_against(tenant, begins_s, ends_s) is None

    def hold_against(self, tenant: str, begins_s: float, ends_s: float) -> NodeHold | None:
        """Return the earliest hold that keeps a tenant from using the node for that time; None if there is none."""
        return next((hold for hold in self.holds if hold.refuses(tenant, begins_s, ends_s)), None)


def storage_path(node: Node) -> float | None:
    """Return the bytes per second that the node's path to the object store can transfer, from its label; None without
    one.
    """
    label = node.labels.get(STORAGE_PATH_LABEL)
    if label is None or not label.isdecimal():
        return None
    return float(label)


def gateway_reservation(nodes: Iterable[Node]) -> Resources:
    """Return the reservation of an execution's gateway on these nodes; nothing if the back-end needs none."""
    gateway = next((node.gateway for node in nodes), NO_GATEWAY)
    return NO_GATEWAY if gateway is NO_GATEWAY or gateway == NO_GATEWAY else gateway


def lacks_labels(component: Component, node: Node) -> str | None:
    """Return the required labels that the node lacks; None if it has all."""
    for key, wanted in component.labels:
        if node.labels.get(key) != wanted:
            return f"label {key}={wanted} is missing"
    return None


def lacks_devices(component: Component, free: Resources) -> str | None:
    """Return the devices that are short; None if there are enough."""
    for kind, amount in component.reservation.devices.items():
        if free.devices.get(kind, 0) < amount:
            return f"{kind}: {amount} needed, {free.devices.get(kind, 0)} free"
    return None


def lacks_resources(component: Component, free: Resources, foreign: Resources = NOTHING) -> str | None:
    """Return the shortage of cores or memory, and the use by other programs; None if there is enough."""
    wanted = component.reservation
    if free.cores_milli < wanted.cores_milli:
        short = f"cores: {_number(wanted.cores_milli)} needed, {_number(free.cores_milli)} free"
        return short + (f"; other programs use {_number(foreign.cores_milli)}" if foreign.cores_milli > 0 else "")
    if free.memory_bytes < wanted.memory_bytes:
        short = f"memory: {size(wanted.memory_bytes)} needed, {size(free.memory_bytes)} free"
        return short + (f"; other programs use {size(foreign.memory_bytes)}" if foreign.memory_bytes > 0 else "")
    return None


def _number(cores_milli: int) -> str:
    return cores(cores_milli).partition(" ")[0]


def never_fits(application: Application, platform: Sequence[Node]) -> Reason | None:
    """Return why the essential services can never run together on these nodes, even empty ones; None if they may.

    None where that is not proven: without any node, and if the search for a packing was cut short.
    """
    answer = fits_when_empty(application, platform, StepBudget())
    return answer if isinstance(answer, Reason) else None


def fits_when_empty(application: Application, platform: Sequence[Node], steps: StepBudget) -> Reason | bool:
    """Return why the essential services can never run on these nodes, True if they fit on empty ones, False if unknown.

    Certain causes come first (an instance that fits no node, a sum beyond all nodes); then the essential services are
    packed onto empty nodes, as in admission.
    """
    if not platform:
        return False
    for component in application.components:
        if component.essential_count == 0:
            continue
        reason = _component_never_fits(component, platform)
        if reason is not None:
            return reason
    gateway = gateway_reservation(platform)
    groups = core_groups(application, gateway)
    if len(groups) <= 1 and gateway == NO_GATEWAY:
        return True  # instances of one kind were counted for each node, and fit in any order
    return _sum_never_fits(application, platform, gateway) or _packs(application, platform, groups, steps)


def _component_never_fits(component: Component, platform: Sequence[Node]) -> Reason | None:
    labelled = [n for n in platform if lacks_labels(component, n) is None] if component.labels else platform
    if not labelled:
        labels = ", ".join(f"{k}={v}" for k, v in component.labels)
        return _never_fits_reason(
            f"component {component.name} needs a node labelled {labels}; there is none", component.name
        )
    room = 0
    for node in labelled:
        room += _instances_in(component.reservation, node.total)
        if room >= component.essential_count:
            return None
    return _never_fits_reason(
        f"component {component.name} needs {_instances(component)}; all nodes together have room "
        f"for {room}, even if they are empty",
        component.name,
        f"the largest node, {_largest(labelled)}" if room else _shortfall(component.reservation, labelled),
    )


def elastic_never_fits(component: Component, platform: Sequence[Node]) -> Reason | None:
    """Return why no elastic instance of a component can ever start, even on empty nodes; None if one may.

    Also None if the essential services cannot run either, which `never_fits` reports.
    """
    labelled = [node for node in platform if lacks_labels(component, node) is None]
    roomy = any(_instances_in(component.reservation, node.total) for node in labelled)
    if not component.elastic_count or component.essential_count or roomy or not platform:
        return None
    sentence = f"no node can hold an elastic instance of component {component.name} ({_amount(component.reservation)})"
    return _never_fits_reason(sentence, component.name, _shortfall(component.reservation, labelled) if labelled else "")


def _shortfall(needed: Resources, nodes: Sequence[Node]) -> str:
    """Return the node that comes closest to holding it, and its shortage."""

    def lacking(node: Node) -> list[tuple[float, str]]:
        """Return each short amount, as a share of the required amount, with a sentence."""
        there = node.total
        cores_milli, memory_bytes = needed.cores_milli - there.cores_milli, needed.memory_bytes - there.memory_bytes
        found = []
        if cores_milli > 0:
            found.append((cores_milli / needed.cores_milli, cores(cores_milli)))
        if memory_bytes > 0:
            found.append((memory_bytes / needed.memory_bytes, size(memory_bytes)))
        for kind, amount in needed.devices.items():
            if (short := amount - there.devices.get(kind, 0)) > 0:
                found.append((short / amount, f"{short} {kind}"))
        return found

    closest = min(nodes, key=lambda node: max((share for share, _ in lacking(node)), default=0.0))
    short = " and ".join(text for _, text in lacking(closest))
    return f"the largest node for it, {closest.name}, has {_amount(closest.total)}: {short} less than it needs"


def _amount(amount: Resources) -> str:
    devices = "".join(f" and {count} {kind}" for kind, count in amount.devices.items())
    return f"{cores(amount.cores_milli)} and {size(amount.memory_bytes)}{devices}"


def _instances(component: Component) -> str:
    count, each = component.essential_count, _amount(component.reservation)
    return f"{count_with_noun(count, 'essential instance')} of {each}{' each' if count > 1 else ''}"


def _instances_in(wanted: Resources, room: Resources) -> int:
    counts = [10**9]
    if wanted.cores_milli > 0:
        counts.append(room.cores_milli // wanted.cores_milli)
    if wanted.memory_bytes > 0:
        counts.append(room.memory_bytes // wanted.memory_bytes)
    counts.extend(room.devices.get(kind, 0) // amount for kind, amount in wanted.devices.items() if amount > 0)
    return min(counts)


def _sum_never_fits(application: Application, platform: Sequence[Node], gateway: Resources) -> Reason | None:
    needed = core_total(application, gateway)
    everything = Resources(
        sum(node.total.cores_milli for node in platform),
        sum(node.total.memory_bytes for node in platform),
        {kind: sum(node.total.devices.get(kind, 0) for node in platform) for kind in needed.devices},
    )
    if needed.fits_in(everything):
        return None
    return _never_fits_reason(
        f"the essential services together{_with_gateway(application, gateway)} need {cores(needed.cores_milli)} and "
        f"{size(needed.memory_bytes)}; "
        f"all nodes together have {cores(everything.cores_milli)} and {size(everything.memory_bytes)}",
        "",
    )


def _packs(
    application: Application, platform: Sequence[Node], groups: Sequence[tuple[Component, int]], steps: StepBudget
) -> Reason | bool:
    nodes = {node.name: node for node in platform}
    free = {name: node.total for name, node in nodes.items()}
    packed = pack_by_any_method(groups, free, lambda c, name: lacks_labels(c, nodes[name]) is None, steps)
    if packed is not PlacementShortage.PROVEN:
        return packed is not PlacementShortage.NOT_SHOWN
    return _never_fits_reason(
        f"the essential services fit one by one on the {len(platform)} nodes, but not all at the "
        f"same time{_with_gateway(application, gateway_reservation(platform))}, even if the nodes "
        "are empty",
        "",
        "ask for smaller services, or ask the admin for more or larger nodes",
    )


def _with_gateway(application: Application, gateway: Resources) -> str:
    if gateway == NO_GATEWAY or bearing_component(application) is None:
        return ""
    return f" with their gateway ({cores(gateway.cores_milli)}, {size(gateway.memory_bytes)})"


def _never_fits_reason(sentence: str, component: str, hint: str = "") -> Reason:
    hint = hint or "ask for less, or ask the admin for more or larger nodes"
    return Reason(ReasonCode.NEVER_FITS, sentence, {component: 1} if component else {}, hint)


def _largest(nodes: Sequence[Node]) -> str:
    node = max(nodes, key=lambda n: (n.total.memory_bytes, n.total.cores_milli))
    return f"{node.name}, has {_amount(node.total)}"
