"""The configuration files of an object store: a proxy, and nodes with a server of each kind."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

KINDS = ("account", "container", "object")
LOOPBACK = "127.0.0.1"
REGION = "RegionOne"
PROXY_NAME = "proxy"
S3_REGION = "us-east-1"

# By default an object server gives a container server half a second to accept its connection and one to record an
# object, and leaves the rest to a program that runs every five minutes and does not run here: the object would be in no
# listing.
_SERVER = """\
[DEFAULT]
bind_ip = {host}
bind_port = {port}
workers = {workers}
swift_dir = {swift_dir}
devices = {devices}
mount_check = false
disable_fallocate = true
fallocate_reserve = 1%
log_name = {name}
conn_timeout = 10
container_update_timeout = 10
{user}
[pipeline:main]
pipeline = {pipeline}
[app:{kind}-server]
use = egg:swift#{kind}
{options}
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:recon]
use = egg:swift#recon
recon_cache_path = {recon}
{replication}
[filter:zoe_pushdown]
paste.filter_factory = storage_filters.object_pushdown:filter_factory
{object_filters}
{bandwidth}
"""

_NODE_BANDWIDTH = """\
[filter:zoe_node_bandwidth]
paste.filter_factory = storage_filters.node_bandwidth:filter_factory
rates_file = {rates}
node_name = {name}
{line}
"""

_OBJECT_FILTERS = """\
[filter:zoe_object_filters]
paste.filter_factory = storage_filters.object_host:filter_factory
keyring_file = {keyring}
"""

_REPLICATION = """\
[filter:zoe_replication]
paste.filter_factory = storage_filters.replication:filter_factory
rates_file = {rates}
{line}
[object-replicator]
sync_method = ssync
recon_cache_path = {recon}
"""

_SWIFTS_OWN = "use = egg:swift#proxy"
_GATEWAY = """\
paste.app_factory = storage_gateway.application:app_factory
store_protocol = {protocol}
{url_name} = {url}
store_order = {order}
store_user = {user}
store_key_file = {key_file}
locks_dir = {directory}/locks
store_metadata_bytes = 1900
{accounts}"""
# Other metadata counts as well in a store that keeps the gateway's.
_GATEWAY_LIMITS = """\
[swift-constraints]
max_meta_count = 60
max_meta_overall_size = 2048
"""

# Of objects, in extended attributes. Some file systems, such as ext4, have 4 KB for all of an object's: its name, which
# may be long, what the filters note of it, and what clients say. An object server that cannot store them says that its
# disk is full, and the proxy then asks it nothing for a minute.
_SHORT_ATTRIBUTES = """\
[swift-constraints]
max_meta_count = 24
max_meta_overall_size = 1900
"""
_ATTRIBUTES_BYTES = 16384

_FRAGMENTS = 3
_ERASURE_CODED = """\
policy_type = erasure_coding
ec_type = liberasurecode_rs_vand
ec_num_data_fragments = 2
ec_num_parity_fragments = 1
"""

_PROXY = """\
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = {workers}
swift_dir = {swift_dir}
log_name = {name}
{user}
[pipeline:main]
pipeline = {pipeline}
[app:proxy-server]
{application}
{accounts}
{patience}
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:list-endpoints]
use = egg:swift#list_endpoints
swift_dir = {swift_dir}
[filter:proxy-logging]
use = egg:swift#proxy_logging
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memcached}
{memcache}
[filter:zoe_listings]
paste.filter_factory = storage_gateway.listing_formats:filter_factory
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:tempauth]
use = egg:swift#tempauth
{users}
[filter:s3api]
use = egg:swift#s3api
location = {s3_region}
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
{slo}
[filter:dlo]
use = egg:swift#dlo
[filter:keymaster]
use = egg:swift#keymaster
encryption_root_secret = {root_secret}
[filter:encryption]
use = egg:swift#encryption
[filter:zoe_executions]
paste.filter_factory = storage_filters.execution_auth:filter_factory
rates_file = {rates}
secret_file = {secret_file}
[filter:zoe_views]
paste.filter_factory = storage_filters.views:filter_factory
[filter:zoe_quotas]
paste.filter_factory = storage_gateway.quotas:filter_factory
[filter:zoe_filters]
paste.filter_factory = storage_filters.filter_host:filter_factory
rates_file = {rates}
keyring_file = {keyring}
object_filters = {at_servers}
{cache}
[filter:zoe_bandwidth]
paste.filter_factory = storage_filters.bandwidth:filter_factory
rates_file = {rates}
proxy_name = {name}
{controller}
"""
# An object server that holds an account back answers late, and is no lost one.
_PATIENCE = "node_timeout = 60\nrecoverable_node_timeout = 60"
# By default a proxy has two connections to memcached, and after ten requests that waited a second for one it does not
# use memcached for a minute: all tokens are unknown then, and every request gets 401 or 503. 64 clients reach that if
# memcached gets no CPU time for a second. With no other server to try, this does not help.
_MEMCACHE = """\
memcache_max_connections = 128
connect_timeout = 10
pool_timeout = 10
io_timeout = 10
error_suppression_interval = 0"""
_PROXY_PIPELINE = (
    "catch_errors gatekeeper healthcheck proxy-logging cache {endpoints}{listings}listing_formats bulk {s3}{executions}"
    "tempauth copy {bandwidth}{views}{quotas}slo dlo {rules}{encryption}proxy-logging proxy-server"
)


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
    """The ports of the servers on loopback; of each kind, one for each node; further: of proxies after the first."""

    proxy: int
    memcached: int
    servers: Mapping[str, Sequence[int]]
    further: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class ControllerLine:
    """The endpoints of the storage controller, and its key file (see storage_filters/bandwidth.py)."""

    limits_from: str
    usage_to: str
    key_file: str


@dataclass(frozen=True, slots=True)
class StoreBehind:
    """The store behind a gateway: its authentication, or that store if it speaks S3; who the gateway is there, and
    the file with that user's key; the file of accounts that have a user of their own there, if there is one. order: in
    which an S3 store lists.
    """

    url: str
    user: str
    key_file: str
    accounts_file: str | None = None
    protocol: str = "swift"
    order: str = "bytes"


@dataclass(frozen=True, slots=True)
class StoreConfiguration:
    """The options of a store. Workers are processes of the proxy and of each object server; 0: a single one that does
    not fork.

    `filters` False leaves Zoe's filters out, for comparison; `s3` adds the S3 protocol. `encrypted`: data on disks are
    encrypted, with a key derived from the hash prefix. `erasure_coded`: objects are stored as two fragments of data and
    one of parity, which needs three nodes. `autocreate` False: a reseller admin has to create accounts. `pipeline`: of
    the proxy, replacing the one derived from the other options. `executions_secret`: the file of the secret from which
    the credentials of executions follow; without it, executions have none. `keyring`: the file of tenants' keys,
    without which nothing is encrypted by rules. `cache`: the proxy keeps what rules say; `cache_fence` False: it asks
    the nodes each time. `versions`: containers may keep old versions. `hosts`: the addresses of the nodes' servers,
    which the rings use; loopback if not given. `behind`: the proxy is a gateway to that store, without nodes of its
    own. `proxies`: how many proxies there are before the same nodes. `bandwidth_at_nodes`: the controller holds
    bandwidth at the object servers.
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
        """Return the names of the proxies, as they call themselves."""
        return (PROXY_NAME, *(f"{PROXY_NAME}-{number}" for number in range(2, self.proxies + 1)))

    @property
    def own_nodes(self) -> int:
        """Return how many nodes run here."""
        return 0 if self.behind is not None else self.nodes

    def host(self, node: int) -> str:
        """Return the address of the servers of a node, counted from 1."""
        return self.hosts[node - 1] if self.hosts else LOOPBACK


def _limits(directory: Path, configuration: StoreConfiguration) -> str:
    if configuration.behind:
        return _GATEWAY_LIMITS
    with tempfile.NamedTemporaryFile(dir=directory) as file:
        try:
            os.setxattr(file.name, "user.swift.metadata", bytes(_ATTRIBUTES_BYTES))
        except OSError:
            return _SHORT_ATTRIBUTES
    return ""


def write(directory: Path, configuration: StoreConfiguration, ports: Ports, hash_prefix: str) -> None:
    """Write all files into `directory`; rings are built from `rings.json`."""
    (directory / "swift.conf").write_text(
        f"[swift-hash]\nswift_hash_path_prefix = {hash_prefix}\nswift_hash_path_suffix = zoe\n"
        "[storage-policy:0]\nname = standard\ndefault = yes\n"
        + (_ERASURE_CODED if configuration.erasure_coded else "")
        + _limits(directory, configuration)
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
            text = _SERVER.format(
                host=configuration.host(node),
                port=port,
                workers=configuration.object_workers if kind == "object" else 0,
                swift_dir=directory,
                devices=directory / "devices" / f"node{node}",
                name=f"{kind}-{node}",
                kind=kind,
                user=user,
                # By default up to 512 MB of an object are written to the disk when it ends, which stops all writers.
                options="mb_per_sync = 2" if kind == "object" else "",
                recon=recon,
                replication=_replication(directory, configuration, node, recon) if kind == "object" else "",
                pipeline=f"healthcheck recon {filters}{kind}-server",
                object_filters=_OBJECT_FILTERS.format(keyring=configuration.keyring or ""),
                bandwidth=_NODE_BANDWIDTH.format(
                    rates=directory / f"node-rates-{node}", name=f"{kind}-{node}", line=_line(configuration.controller)
                ),
            )
            (directory / f"{kind}-{node}.conf").write_text(text)
    for name, port in zip(configuration.proxy_names, (ports.proxy, *ports.further), strict=True):
        _write_proxy(directory, configuration, replace(ports, proxy=port), user, hash_prefix, name)
    if configuration.behind is None:
        _write_rings(directory, configuration, ports)


def _replication(directory: Path, configuration: StoreConfiguration, node: int, recon: Path) -> str:
    """Return the sections of replication in the file of an object server."""
    line = configuration.controller
    told = f"limits_from = {line.limits_from}\nkey_file = {line.key_file}" if line else ""
    return _REPLICATION.format(rates=directory / f"replication-{node}", line=told, recon=recon)


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
        return _SWIFTS_OWN
    accounts = f"store_accounts_file = {behind.accounts_file}" if behind.accounts_file else ""
    return _GATEWAY.format(
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
    text = _PROXY.format(
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
        or _PROXY_PIPELINE.format(
            endpoints="" if configuration.behind else "list-endpoints ",
            listings="zoe_listings " if configuration.behind else "",
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
        # Segments are removed later by the nodes' own programs.
        slo="allow_async_delete = false" if configuration.behind else "",
        accounts="account_autocreate = true" if configuration.autocreate else "allow_account_management = true",
        patience=_PATIENCE if configuration.bandwidth_at_nodes else "",
        memcached=ports.memcached,
        memcache=_MEMCACHE,
        users="\n".join(users),
        user=user + ("\nallow_versioned_writes = true" if configuration.versions else ""),
    )
    (directory / f"{name}.conf").write_text(text)
