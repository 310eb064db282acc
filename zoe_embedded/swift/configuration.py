"""The configuration files of an object store: a proxy, and nodes with a server of each kind."""

from __future__ import annotations

import base64
import configparser
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zoe_embedded.swift import templates

KINDS = ("account", "container", "object")
LOOPBACK = "127.0.0.1"
REGION = "RegionOne"
PROXY_NAME = "proxy"
S3_REGION = "us-east-1"

_ATTRIBUTES_BYTES = 16384
_FRAGMENTS = 3


@dataclass(frozen=True, slots=True)
class StoreUser:
    """A user of the store, as `account:name`; groups are tempauth's (`.admin`, `.reseller_admin`)."""

    account: str
    name: str
    key: str
    groups: tuple[str, ...] = (".admin",)

    @property
    def login(self) -> str:
        """Return the user's name in requests."""
        return f"{self.account}:{self.name}"


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports of the servers on loopback; of each kind, one for each node; further: of proxies after the first."""

    proxy: int
    memcached: int
    servers: Mapping[str, Sequence[int]]
    further: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class ControllerLine:
    """The endpoints of the storage controller, and its key file (see storage_filters/bandwidth/middleware.py)."""

    limits_from: str
    usage_to: str
    key_file: str


@dataclass(frozen=True, slots=True)
class StoreBehind:
    """The store behind a gateway: its authentication, or the store itself if it speaks S3; the gateway's user there,
    and the file with that user's key; the file of accounts with separate users, if there is one. order: of an S3
    store's listings. ended: returns the name of a program of it that ended by itself.
    """

    url: str
    user: str
    key_file: str
    accounts_file: str | None = None
    protocol: str = "swift"
    order: str = "bytes"
    ended: Callable[[], str | None] = lambda: None


@dataclass(frozen=True, slots=True)
class StoreConfiguration:
    """The options of a store. Workers are processes of the proxy and of each object server; 0: a single one that does
    not fork.

    `filters` False leaves Zoe's filters out, for comparison; `s3` adds the S3 protocol. `encrypted`: data on disks are
    encrypted, with a key derived from the hash prefix. `erasure_coded`: objects are stored as two fragments of data and
    one of parity, which needs three nodes. `autocreate` False: a reseller admin has to create accounts. `pipeline`: of
    the proxy, replacing the one derived from the other options. `executions_secret`: the file of the secret for the
    credentials of executions; without it, executions have none. `keyring`: the file of tenants' keys, which encryption
    by rules needs. `cache`: the proxy caches objects as rules say; `cache_fence` False: it asks the nodes each time.
    `versions`: containers may keep old versions. `hosts`: the addresses of the nodes' servers, which the rings use;
    loopback if not given. `behind`: the proxy is a gateway to that store, without nodes. `proxies`: number of proxies
    before the same nodes. `bandwidth_at_nodes`: the object servers enforce bandwidth.
    """

    users: Sequence[StoreUser]
    nodes: int = 2
    replicas: int = 2
    proxy_workers: int = 0
    object_workers: int = 0
    filters: bool = True
    s3: bool = False
    filter_at_nodes: bool = True
    encrypted: bool = False
    erasure_coded: bool = False
    autocreate: bool = True
    run_as: str | None = None
    pipeline: str | None = None
    controller: ControllerLine | None = None
    executions_secret: str | None = None
    keyring: str | None = None
    cache: bool = False
    cache_fence: bool = True
    versions: bool = False
    hosts: Sequence[str] = ()
    behind: StoreBehind | None = None
    proxies: int = 1
    bandwidth_at_nodes: bool = False

    @property
    def proxy_names(self) -> Sequence[str]:
        """Return the names of the proxies."""
        return (PROXY_NAME, *(f"{PROXY_NAME}-{number}" for number in range(2, self.proxies + 1)))

    @property
    def own_nodes(self) -> int:
        """Return the number of nodes that run here."""
        return 0 if self.behind is not None else self.nodes

    def host(self, node: int) -> str:
        """Return the address of the servers of a node, counted from 1."""
        return self.hosts[node - 1] if self.hosts else LOOPBACK


def _limits(directory: Path, configuration: StoreConfiguration) -> str:
    if configuration.behind:
        return templates.GATEWAY_LIMITS
    with tempfile.NamedTemporaryFile(dir=directory) as file:
        try:
            os.setxattr(file.name, "user.swift.metadata", bytes(_ATTRIBUTES_BYTES))
        except OSError:
            return templates.SHORT_ATTRIBUTES
    return ""


def write(directory: Path, configuration: StoreConfiguration, ports: Ports, hash_prefix: str) -> None:
    """Write all files into `directory`; rings are built from `rings.json`."""
    further = _further_policies(directory / "swift.conf")
    (directory / "swift.conf").write_text(
        f"[swift-hash]\nswift_hash_path_prefix = {hash_prefix}\nswift_hash_path_suffix = zoe\n"
        "[storage-policy:0]\nname = standard\ndefault = yes\n"
        + (templates.ERASURE_CODED if configuration.erasure_coded else "")
        + _limits(directory, configuration)
        + further
    )
    user = f"user = {configuration.run_as}" if configuration.run_as else ""
    for kind in KINDS:
        filters = (
            "zoe_pushdown zoe_object_filters "
            if kind == "object" and configuration.filters and configuration.filter_at_nodes
            else ""
        )
        if kind == "object" and configuration.filters:
            filters = f"zoe_node_bandwidth zoe_replication {filters}"
        for node, port in enumerate(ports.servers[kind], start=1):
            recon = directory / f"recon-{node}"
            text = templates.SERVER.format(
                host=configuration.host(node),
                port=port,
                workers=configuration.object_workers if kind == "object" else 0,
                swift_dir=directory,
                devices=directory / "devices" / f"node{node}",
                name=f"{kind}-{node}",
                kind=kind,
                user=user,
                # By default up to 512 MB of an object are written to the disk at its end, which stops all writers.
                options="mb_per_sync = 2" if kind == "object" else "",
                recon=recon,
                replication=_replication(directory, configuration, node, recon) if kind == "object" else "",
                pipeline=f"healthcheck recon {filters}{kind}-server",
                object_filters=templates.OBJECT_FILTERS.format(keyring=configuration.keyring or ""),
                bandwidth=templates.NODE_BANDWIDTH.format(
                    rates=directory / f"node-rates-{node}", name=f"{kind}-{node}", line=_line(configuration.controller)
                ),
            )
            (directory / f"{kind}-{node}.conf").write_text(text)
    for name, port in zip(configuration.proxy_names, (ports.proxy, *ports.further), strict=True):
        _write_proxy(directory, configuration, replace(ports, proxy=port), user, hash_prefix, name)
    if configuration.behind is None:
        _write_rings(directory, configuration, ports)


def _further_policies(file: Path) -> str:
    """Return the sections of storage policies that were created after the store."""
    before, after = configparser.ConfigParser(interpolation=None), configparser.ConfigParser(interpolation=None)
    before.read(file)
    names = (
        section
        for section in before.sections()
        if section.startswith("storage-policy:") and section != "storage-policy:0"
    )
    after.read_dict({name: dict(before[name]) for name in names})
    text = io.StringIO()
    after.write(text)
    return text.getvalue()


def _replication(directory: Path, configuration: StoreConfiguration, node: int, recon: Path) -> str:
    """Return the sections of replication in the configuration of an object server."""
    line = configuration.controller
    told = f"limits_from = {line.limits_from}\nkey_file = {line.key_file}" if line else ""
    return templates.REPLICATION.format(rates=directory / f"replication-{node}", line=told, recon=recon)


def _write_rings(directory: Path, configuration: StoreConfiguration, ports: Ports) -> None:
    devices = {
        kind: [
            {"ip": configuration.host(node), "port": port, "device": f"d{node}"}
            for node, port in enumerate(ports.servers[kind], start=1)
        ]
        for kind in KINDS
    }
    replicas = dict.fromkeys(KINDS, configuration.replicas)
    if configuration.erasure_coded:
        replicas["object"] = _FRAGMENTS
    rings = {"directory": str(directory), "replicas": replicas, "devices": devices}
    (directory / "rings.json").write_text(json.dumps(rings))


def _cache(directory: Path, configuration: StoreConfiguration, memcached: int, rates: str) -> str:
    if not configuration.cache:
        return ""
    server = f"{LOOPBACK}:{memcached}" if configuration.cache_fence else ""
    return f"cache_dir = {directory}/{rates}-objects\ncache_memcached = {server}"


def _application(behind: StoreBehind | None, directory: Path) -> str:
    if behind is None:
        return templates.SWIFTS_OWN
    accounts = f"store_accounts_file = {behind.accounts_file}" if behind.accounts_file else ""
    return templates.GATEWAY.format(
        protocol=behind.protocol,
        order=behind.order,
        url_name="store_auth_url" if behind.protocol == "swift" else "store_url",
        url=behind.url,
        user=behind.user,
        key_file=behind.key_file,
        accounts=accounts,
        directory=directory,
    )


def _line(line: ControllerLine | None) -> str:
    return "\n".join(f"{name} = {value}" for name, value in asdict(line).items()) if line else ""


def _write_proxy(
    directory: Path, configuration: StoreConfiguration, ports: Ports, user: str, hash_prefix: str, name: str
) -> None:
    rates = name.replace(PROXY_NAME, "rates")
    users = (f"user_{u.account}_{u.name} = {' '.join((u.key, *u.groups))}" for u in configuration.users)
    text = templates.PROXY.format(
        port=ports.proxy,
        workers=configuration.proxy_workers,
        swift_dir=directory,
        name=name,
        rates=directory / rates,
        root_secret=base64.b64encode(hashlib.sha256(hash_prefix.encode()).digest()).decode(),
        s3_region=S3_REGION,
        secret_file=configuration.executions_secret or "",
        keyring=configuration.keyring or "",
        at_servers="yes" if configuration.behind is None and configuration.filter_at_nodes else "no",
        cache=_cache(directory, configuration, ports.memcached, rates),
        pipeline=configuration.pipeline
        or templates.PROXY_PIPELINE.format(
            endpoints="" if configuration.behind else "list-endpoints ",
            listings="zoe_listings " if configuration.behind else "",
            signed="zoe_s3_signed " if configuration.s3 else "",
            calls="zoe_s3_calls " if configuration.s3 and configuration.filters else "",
            s3="s3api " if configuration.s3 else "",
            views="zoe_views " if configuration.filters else "",
            quotas="zoe_quotas " if configuration.behind else "",
            executions="zoe_executions " if configuration.executions_secret else "",
            bandwidth="zoe_bandwidth " if configuration.filters else "",
            rules="zoe_filters " if configuration.filters else "",
            encryption="keymaster encryption " if configuration.encrypted else "",
        ),
        controller=_line(configuration.controller),
        application=_application(configuration.behind, directory),
        accounts="account_autocreate = true" if configuration.autocreate else "allow_account_management = true",
        patience=templates.PATIENCE if configuration.bandwidth_at_nodes else "",
        memcached=ports.memcached,
        memcache=templates.MEMCACHE,
        users="\n".join(users),
        user=user + ("\nallow_versioned_writes = true" if configuration.versions else ""),
    )
    (directory / f"{name}.conf").write_text(text)
