"""How much bandwidth may be guaranteed, and to which tenants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import RequestRefusedError, warning
from storage_controller.promises.held_places import EnforcingServers


def both_ways(slo: BandwidthSlo) -> int:
    """Return the sum of reads and writes in bytes per second."""
    return (slo.read_bytes_per_s or 0) + (slo.write_bytes_per_s or 0)


@dataclass(frozen=True, slots=True)
class Promisable:
    """The most bandwidth that may be guaranteed, and its tenants: all but the ones that the store reports as missing.

    proxies: bytes per second that each proxy can move, both ways together. unkept: why guarantees are not enforced at
    present. places: the servers that enforce bandwidth. available: what can be guaranteed while servers are away, with
    sentences on why that is less; None without any knowledge.
    """

    capacity: BandwidthSlo
    has_account: Callable[[str], bool] = lambda _: True
    proxies: Mapping[str, int] = field(default_factory=dict)
    unkept: Callable[[], Sequence[str]] = tuple
    places: EnforcingServers | None = None
    available: Callable[[], tuple[BandwidthSlo, Sequence[str]]] | None = None

    def check_alive(self, slo: BandwidthSlo, before: BandwidthSlo) -> None:
        """Raise RequestRefusedError (409) for more than before in a direction in which the store moves nothing now."""
        rates, why = self.now()
        for direction, rate, had, most in (
            ("read", slo.read_bytes_per_s, before.read_bytes_per_s, rates.read_bytes_per_s),
            ("write", slo.write_bytes_per_s, before.write_bytes_per_s, rates.write_bytes_per_s),
        ):
            if most == 0 and (rate or 0) > (had or 0) and why:
                raise RequestRefusedError(409, f"nothing can be guaranteed to {direction} now: {'; '.join(why)}")

    def now(self) -> tuple[BandwidthSlo, Sequence[str]]:
        """Return what can be guaranteed at present, and why that is less than the capacity."""
        return (self.capacity, ()) if self.available is None else self.available()

    def check(self, tenant: str, slo: BandwidthSlo) -> Mapping[str, str]:
        """Return the headers with the part of a guarantee that the proxies may not be able to deliver.

        Raises RequestRefusedError: 409 for more than the store could give to a single tenant, 404 for a missing tenant.
        """
        for direction, rate, most in (
            ("read", slo.read_bytes_per_s, self.capacity.read_bytes_per_s),
            ("write", slo.write_bytes_per_s, self.capacity.write_bytes_per_s),
        ):
            if rate is not None and most is not None and rate > most:
                wanted, possible = f"{rate / 1e6:.12g} MB/s to {direction}", f"{most / 1e6:.12g} MB/s"
                raise RequestRefusedError(409, f"{wanted} is more than the {possible} that the store can move")
        if not self.has_account(tenant):
            raise RequestRefusedError(404, f"unknown tenant: the store has no account for {tenant}")
        return warning(self.caveats(slo))

    def caveats(self, slo: BandwidthSlo) -> list[str]:
        """Return the caveats of a guarantee: a proxy has a maximum, which its reads and writes share."""
        found = list(self.unkept())
        if self.places is not None and self.places.nodes:
            return found + self._of_disks(self.places, slo)
        if not self.proxies:
            return found
        one, all_of_them = max(self.proxies.values()), sum(self.proxies.values())
        if max(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0) > one:
            found.append(f"one proxy moves {one} bytes/s: more is kept only for requests through several proxies")
        if both_ways(slo) > all_of_them:
            found.append(
                f"the proxies move {all_of_them} bytes/s together: not as much can be read and written at once"
            )
        return found

    def _of_disks(self, places: EnforcingServers, slo: BandwidthSlo) -> list[str]:
        disks, copies = sum(places.nodes.values()), places.copies
        if (slo.read_bytes_per_s or 0) + (slo.write_bytes_per_s or 0) * copies <= disks:
            return []
        return [
            f"the object servers move {disks} bytes/s together, and writes count {copies} times: not as much can be "
            "read and written at once"
        ]


def limit_to_proxies(rates: BandwidthSlo, proxies: Mapping[str, int], spare: int = 0) -> BandwidthSlo:
    """Return how much may be guaranteed each way: at most what all proxies together can move, or the remaining ones
    when the `spare` fastest ones are lost.
    """
    most = sum(sorted(proxies.values())[: len(proxies) - spare])
    return at_most(rates, most, most)


def at_most(rates: BandwidthSlo, read: int, write: int) -> BandwidthSlo:
    """Return the rates, limited to these."""
    return BandwidthSlo(min(rates.read_bytes_per_s or 0, read), min(rates.write_bytes_per_s or 0, write))
