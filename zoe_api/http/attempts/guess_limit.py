"""Limit password guesses: count failures by user and network, and refuse more before any hashing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.submission.ids import hash_of

WITHIN_S = 300.0
FAILURES_OF_PAIR_MAX = 10
FAILURES_OF_NETWORK_MAX = 100
# Over all networks, against guesses from many machines; NIST SP 800-63B (5.2.2) allows at most a hundred.
USER_WITHIN_S = 3600.0
FAILURES_OF_USER_MAX = 100
# A limit on a user over all networks, or on a network over all users, lets strangers lock others out. So it does not
# apply to a user at networks from which that user signed in within this time (like OWASP's device cookies), and
# sessions and tokens continue in any case. The limit on the user at one network always applies.
FAMILIAR_S = 4 * 86400.0
_IPV6_NETWORK_BITS = 64  # the smallest network of a subscriber, in which one machine has 2^64 addresses


class TooManyGuesses(ApiProblem):
    """429 after too many failures; `key` is the subject of the refusal, `within_s` its maximum duration."""

    def __init__(self, key: str, within_s: float) -> None:
        super().__init__(Code.TOO_MANY_SIGN_INS, f"try again in {within_s / 60:.0f} minutes")
        self.problem = self.problem.with_retry_after(within_s)
        self.key = key
        self.within_s = within_s


@dataclass(frozen=True, slots=True)
class Brake:
    """The brake for one user name of one provider, from one network."""

    provider: str
    user: str
    network: str
    clock: Clock = SYSTEM_CLOCK

    @property
    def pair(self) -> str:
        """Return the key of the user at this network."""
        return hash_of(f"{self.network} {self.provider} {self.user}")

    @property
    def place(self) -> str:
        """Return the key of the network."""
        return hash_of(self.network)

    @property
    def everywhere(self) -> str:
        """Return the key of the user over all networks."""
        return hash_of(f"everywhere {self.provider} {self.user}")

    @property
    def _keys(self) -> Sequence[str]:
        return (self.pair, self.place, self.everywhere)

    @property
    def _familiar(self) -> str:
        return hash_of(f"familiar {self.network} {self.provider} {self.user}")

    def take(self, accounts: AccountStore) -> float:
        """Count a guess before it is checked, and return its time; after too many failures raise Braked and count
        nothing.

        Simultaneous guesses, here or in other processes, are counted one after the other."""
        now_s = self.clock.now_s()
        limits = {self.pair: (now_s - WITHIN_S, FAILURES_OF_PAIR_MAX)}
        if not self.is_familiar(accounts):
            limits[self.place] = (now_s - WITHIN_S, FAILURES_OF_NETWORK_MAX)
            limits[self.everywhere] = (now_s - USER_WITHIN_S, FAILURES_OF_USER_MAX)
        reached = accounts.take_guess(self._keys, limits, now_s)
        if reached == self.everywhere:
            raise TooManyGuesses(self.pair, USER_WITHIN_S)
        if reached is not None:
            raise TooManyGuesses(reached, WITHIN_S)
        return now_s

    def record_success(self, accounts: AccountStore, taken_s: float) -> None:
        """Undo the guess taken at that time, and record that the user signs in from this network.

        The mark is kept as long as failures are.
        """
        self.give_back(accounts, taken_s)
        if not self.is_familiar(accounts, FAMILIAR_S / 2):
            accounts.add_failure(self._familiar, self.clock.now_s())

    def give_back(self, accounts: AccountStore, taken_s: float) -> None:
        """Undo the guess taken at that time: it was not wrong."""
        accounts.give_back_guess(self._keys, taken_s)

    def is_familiar(self, accounts: AccountStore, within_s: float = FAMILIAR_S) -> bool:
        """Return whether the user recently signed in from this network."""
        return bool(accounts.failures([self._familiar], self.clock.now_s() - within_s).get(self._familiar))


def network_of(address: str) -> str:
    """Return the network to limit: an IPv4 address, or the /64 of an IPv6 address; other text stays unchanged."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    network = int(parsed) >> (128 - _IPV6_NETWORK_BITS) << (128 - _IPV6_NETWORK_BITS)
    return f"{IPv6Address(network)}/{_IPV6_NETWORK_BITS}"
