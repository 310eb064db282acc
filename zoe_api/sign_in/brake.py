"""The brake on guessing passwords: counts failures by user and network, and refuses more before anything is hashed."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_lib.store.base import Store

WITHIN_S = 300.0
FAILURES_OF_PAIR_MAX = 10
FAILURES_OF_NETWORK_MAX = 100
# Over all networks, against guesses from many machines; NIST SP 800-63B (5.2.2) allows no more than a hundred.
USER_WITHIN_S = 3600.0
FAILURES_OF_USER_MAX = 100
# What bounds a user over all networks lets strangers keep that user out. So it does not count for networks from which
# the user signed in within this time (as OWASP's device cookies do), and sessions and tokens go on in any case.
FAMILIAR_S = 4 * 86400.0
_IPV6_NETWORK_BITS = 64  # the least that a subscriber gets, so that one machine has 2^64 addresses


class Braked(ApiProblem):
    """429 after too many failures; `key` is what the refusal holds for."""

    def __init__(self, key: str, within_s: float) -> None:
        super().__init__(Code.TOO_MANY_SIGN_INS, f"try again in {within_s / 60:.0f} minutes")
        self.key = key


@dataclass(frozen=True, slots=True)
class Brake:
    """The brake for one user name of one provider, as asked from one network."""

    provider: str
    user: str
    network: str

    @property
    def pair(self) -> str:
        """The key of the user at this network."""
        return _key(f"{self.network} {self.provider} {self.user}")

    @property
    def place(self) -> str:
        """The key of the network."""
        return _key(self.network)

    @property
    def everywhere(self) -> str:
        """The key of the user over all networks."""
        return _key(f"everywhere {self.provider} {self.user}")

    @property
    def _familiar(self) -> str:
        return _key(f"familiar {self.network} {self.provider} {self.user}")

    def check(self, store: Store) -> None:
        """Raise Braked after too many failures."""
        now_s = time.time()
        lately = store.failures([self.pair, self.place], now_s - WITHIN_S)
        if lately.get(self.place, 0) >= FAILURES_OF_NETWORK_MAX:
            raise Braked(self.place, WITHIN_S)
        if lately.get(self.pair, 0) >= FAILURES_OF_PAIR_MAX:
            raise Braked(self.pair, WITHIN_S)
        of_user = store.failures([self.everywhere], now_s - USER_WITHIN_S)
        if of_user.get(self.everywhere, 0) >= FAILURES_OF_USER_MAX and not self._is_familiar(store):
            raise Braked(self.pair, USER_WITHIN_S)

    def failed(self, store: Store) -> None:
        """Count a failure."""
        for key in (self.pair, self.place, self.everywhere):
            store.add_failure(key, time.time())

    def succeeded(self, store: Store) -> None:
        """Remember that the user signs in from this network; the mark is kept as long as failures are."""
        if not self._is_familiar(store, FAMILIAR_S / 2):
            store.add_failure(self._familiar, time.time())

    def _is_familiar(self, store: Store, within_s: float = FAMILIAR_S) -> bool:
        return bool(store.failures([self._familiar], time.time() - within_s).get(self._familiar))


def network_of(address: str) -> str:
    """Return what is braked as one: an IPv4 address, or the /64 of an IPv6 address; other texts stay as they are."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    network = int(found) >> (128 - _IPV6_NETWORK_BITS) << (128 - _IPV6_NETWORK_BITS)
    return f"{IPv6Address(network)}/{_IPV6_NETWORK_BITS}"


def _key(text: str) -> str:
    """Names come as they are typed; a digest of them can be stored."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
