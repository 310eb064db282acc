"""Notifications of events of executions, and the addresses that they may be sent to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from zoe_client.vocabulary import NotificationKind
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.domain.values.frozen import value

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
URL_MAX = 2000
MAIL_SCHEME = "mailto"
LOCAL_PART_MAX = 64
# RFC 5321, 4.1.2: a dot-string, without characters that have a meaning in URLs or mail servers.
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$'*+/=^_`{|}~-]+(?:\.[A-Za-z0-9!#$'*+/=^_`{|}~-]+)*")
_PORTS = {"https": 443, "http": 80}
_PORT_MIN = 1024
# IPv6 addresses with a gateway to the IPv4 address of their last 32 bits: NAT64 (RFC 6052, 2.1).
_TRANSLATED = IPv6Network("64:ff9b::/96")
# Not globally reachable by IANA's registries of special-purpose addresses, or withdrawn; Python knows them in part. In
# a prefix of a site (RFC 8215), only the site knows the position of the IPv4 address.
_SPECIAL: tuple[Network, ...] = (
    *(IPv4Network(entry) for entry in ("192.0.0.0/24", "192.88.99.0/24")),
    *(
        IPv6Network(entry)
        for entry in ("64:ff9b:1::/48", "100::/63", "2001::/23", "3fff::/20", "5f00::/16", "fec0::/10")
    ),
)


_LOOPBACK = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
_LOCAL_NAMES = frozenset({"localhost", "localhost6", "ip6-localhost", "ip6-loopback", "loopback", "localdomain"})


class TargetRefused(Exception):  # noqa: N818 - the name is the fact
    """Zoe sends no notifications to this target; the text gives the cause."""


@value(frozen=True, slots=True)
class Notification:
    """An event of an execution, or the end of an array. id: of the event in the journal. at_s: seconds since the
    epoch.
    """

    id: int
    kind: NotificationKind
    at_s: float
    execution_id: str
    name: str
    user: str
    tenant: str
    state: str
    exit_code: int | None
    cause: str | None
    message: str
    submitted_at_s: float
    started_at_s: float | None
    ended_at_s: float | None
    missed: DeadlineMiss | None = None
    asked: tuple[str, ...] = ()
    """The kinds that the description requests."""
    in_array: bool = False
    """Whether the execution belongs to an array."""
    counts: Mapping[str, int] | None = None
    """For the end of a whole array: number of indices by state. Then `execution_id` is the id of the array."""


@value(frozen=True, slots=True)
class ScheduleRefusal:
    """A time of a schedule at which its run was refused. id: of its record. due_s, at_s: seconds since the epoch.
    code, message: the refusal that a submission would have got.
    """

    id: int
    schedule: str
    user: str
    tenant: str
    due_s: float
    at_s: float
    code: str
    message: str


@value(frozen=True, slots=True)
class TargetAddress:
    """Address of a webhook: scheme, host without brackets, port, and the rest of the URL."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return host and port as in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def web_address(url: str, inside: Sequence[Network] = ()) -> TargetAddress:
    """Return the parts of a webhook's URL; TargetRefused.

    `inside`: networks of the site that webhooks may reach; without any, only HTTPS is allowed.
    """
    try:
        parts = urlsplit(url)
        port = _PORTS.get(parts.scheme, 0) if parts.port is None else parts.port
    except ValueError as error:
        raise TargetRefused(f"it is not a URL: {error}") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise TargetRefused("write https://HOST/PATH, or mailto:ADDRESS")
    if parts.scheme == "http" and not inside:
        raise TargetRefused("only https:// is allowed")
    if len(url) > URL_MAX or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise TargetRefused(f"write at most {URL_MAX} ASCII characters, without blanks")
    if parts.username is not None or parts.fragment:
        raise TargetRefused("it has a password or a fragment, which are not sent")
    if port < _PORT_MIN and port not in _PORTS.values():
        raise TargetRefused(f"port {port} is not allowed; use 80, 443, or {_PORT_MIN} and above")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    found = TargetAddress(parts.scheme, parts.hostname, port, path)
    if _is_local(found.host) and not any(address in network for address in _LOOPBACK for network in inside):
        raise TargetRefused(f"{found.host} is this machine; an admin can allow its network (webhook_networks)")
    literal = _literal(found.host)
    if literal is not None:
        check_address(literal, inside)
    return found


def _is_local(host: str) -> bool:
    """Return whether resolvers answer a name with an address of their own machine (RFC 6761, 6.3), or hosts files
    usually do.
    """
    name = host.removesuffix(".").lower()
    return name in _LOCAL_NAMES or name.endswith((".localhost", ".localdomain"))


def check_address(address: Address, inside: Sequence[Network]) -> None:
    """Raise TargetRefused unless an address is public, or in one of these networks.

    Other addresses belong to this machine and its neighbours, which trust requests by their origin.
    """
    if any(address in network for network in inside):
        return
    meant: Address = address
    if isinstance(address, IPv6Address):
        embedded = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if embedded is None and address in _TRANSLATED:
            embedded = IPv4Address(int(address) & 0xFFFFFFFF)
        meant = embedded or address
    special = any(entry in network for entry in (address, meant) for network in _SPECIAL)
    if special or not meant.is_global or meant.is_multicast or meant.is_reserved or meant.is_unspecified:
        raise TargetRefused(f"{address} is not a public address; an admin can allow its network (webhook_networks)")


def mail_address(url: str, domains: Sequence[str]) -> str:
    """Return the address of a `mailto:` URL; TargetRefused if it is invalid, or its domain is not in the list."""
    address = url.removeprefix(f"{MAIL_SCHEME}:")
    local, at, domain = address.rpartition("@")
    if not (at and domain and _LOCAL_PART.fullmatch(local)) or len(local) > LOCAL_PART_MAX:
        raise TargetRefused("write mailto:NAME@DOMAIN")
    if not domains:
        raise TargetRefused("this installation sends no mail; an admin can set smtp_url and mail_domains")
    if domain.lower() not in {domain.lower() for domain in domains}:
        raise TargetRefused(f"mail goes to {', '.join(domains)} only")
    return address


def is_mail(url: str) -> bool:
    """Return whether notifications to this URL are mails."""
    return url.startswith(f"{MAIL_SCHEME}:")


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        # Other forms that C libraries read as an address: `127.1`, `0x7f.1`, `2130706433`.
        if host.replace(".", "").replace("x", "").isalnum() and host.rpartition(".")[2][:1].isdigit():
            raise TargetRefused(f"{host} is neither a name nor an address") from None
        return None
