"""A swarm of three engines on this machine, made from nothing and removed completely, also when its maker dies."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from tests.swarm.certificates import make_certificates
from tests.swarm.engine_host import EngineHost, wait_for
from tests.swarm.keeper import Keeper, group_of_containers
from tests.swarm.tiny_image import GATEWAY_SETTINGS, gateway_image, tiny_image

IMAGES = ("shell", "python", "zoe/tiny")
GATEWAY_IMAGE = "test/gateway"
HEARTBEAT_NS = 2 * 10**9  # a node is down after three that were missed; Swarm's own default is 5 s
HARDENING = ("--no-new-privileges", "--default-ulimit", "core=0:0", "--default-ulimit", "nofile=4096:4096")
GENERIC_RESOURCES = "--node-generic-resource=gpu=2"


class Cluster:
    """The first engines are managers; the second one has two devices of kind gpu.

    They have no images of the catalogue, or those of the disk `images`.
    """

    _made = count()

    def __init__(
        self,
        nodes: Sequence[str] = ("node-1", "node-2", "node-3"),
        managers: int = 1,
        images: Path | None = None,
        subnet_size: int = 26,
    ) -> None:
        one = next(self._made)
        number = _free_number(os.getpid() + one)
        self._managers = managers
        self._subnet_size = subnet_size  # of each overlay network: the length of its prefix
        self.base = Path(tempfile.mkdtemp(prefix="zoe-swarm-test-"))
        self._bridge = _bridge_name(number)
        self._subnet = f"10.213.{number}"
        cgroup = group_of_containers(f"zoe-swarm-test-{os.getpid()}-{one}")
        self._keeper = Keeper(self.base, cgroup, self._bridge, _forbids())
        self.certificates = self.base / "certificates"
        self.hosts: list[EngineHost] = []
        self._images = images
        try:
            self._build(nodes, cgroup)
        except BaseException:
            self.remove()
            raise

    @property
    def outside(self) -> str:
        """Return the address of this machine on the network of the nodes."""
        return f"{self._subnet}.254"

    @property
    def manager(self) -> EngineHost:
        """The first whose engine runs."""
        return next(host for host in self.managers if host.engine_runs)

    @property
    def managers(self) -> list[EngineHost]:
        return self.hosts[: self._managers]

    def host(self, name: str) -> EngineHost:
        return next(host for host in self.hosts if host.name == name)

    def restart_engine(self, name: str, hardening: Sequence[str] = HARDENING) -> None:
        host = self.host(name)
        host.start_engine(*self._options(host), *hardening)
        host.await_engine()

    def node_state(self, name: str) -> str:
        nodes = self.manager.api.nodes()
        return str(next(n["Status"]["State"] for n in nodes if n["Description"]["Hostname"] == name))

    def await_node(self, name: str, state: str) -> None:
        wait_for(lambda: self.node_state(name) == state, lambda: f"{name} is {self.node_state(name)}")

    def remove(self) -> None:
        """Let the keeper take everything apart, and wait for it."""
        self._keeper.undo()
        for host in self.hosts:
            host.close()

    def _build(self, nodes: Sequence[str], cgroup_parent: str) -> None:
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("address", "add", f"{self._subnet}.254/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")
        if _forbids():
            rule = ["iptables", "-I", "FORWARD", "-i", self._bridge, "-o", self._bridge, "-j", "ACCEPT"]
            subprocess.run(rule, check=True, timeout=10)
        addresses = [f"{self._subnet}.{position}" for position, _ in enumerate(nodes, 1)]
        make_certificates(self.certificates, addresses)
        self.hosts += [EngineHost(name, self.base, cgroup_parent, images=self._images) for name in nodes]
        for position, (host, address) in enumerate(zip(self.hosts, addresses, strict=True), 1):
            host.await_namespaces()
            host.connect(self._bridge, f"{self._bridge}v{position}", address, 24)
            host.start_engine(*self._options(host), *HARDENING)
        busybox, haproxy = (shutil.which(program) or "" for program in ("busybox", "haproxy"))
        tiny, gateway = tiny_image(busybox), gateway_image(busybox, haproxy)
        for host in self.hosts:
            host.await_engine()
            self._load(host, tiny, gateway)
        self._join()

    def _options(self, host: EngineHost) -> list[str]:
        keys = {"--tlscacert": "ca.pem", "--tlscert": "server.pem", "--tlskey": "server-key.pem"}
        tls = [word for option, name in keys.items() for word in (option, str(self.certificates / name))]
        devices = [GENERIC_RESOURCES] if host.name == "node-2" else []
        registries = ["--insecure-registry", f"{self._subnet}.0/24"]  # speak plain HTTP
        return [*registries, "-H", f"tcp://{host.address}:2376", "--tlsverify", *tls, *devices]

    @staticmethod
    def _load(host: EngineHost, tiny: bytes, gateway: bytes) -> None:
        host.api.import_image_from_data(gateway, repository=GATEWAY_IMAGE, tag="latest", changes=GATEWAY_SETTINGS)
        host.api.import_image_from_data(tiny, repository=IMAGES[0], tag="latest")
        for name in IMAGES[1:]:
            host.api.tag(f"{IMAGES[0]}:latest", name, "latest")

    def _join(self) -> None:
        leader = self.manager.api
        address = self.manager.address
        spec = leader.create_swarm_spec(dispatcher_heartbeat_period=HEARTBEAT_NS)
        pool = ["10.214.0.0/16"]
        leader.init_swarm(
            address, f"{address}:2377", default_addr_pool=pool, subnet_size=self._subnet_size, swarm_spec=spec
        )
        tokens = leader.inspect_swarm()["JoinTokens"]
        for host in self.hosts[1:]:
            token = tokens["Manager" if host in self.managers else "Worker"]
            host.api.join_swarm([f"{address}:2377"], token, f"{host.address}:2377", host.address)
        wait_for(lambda: len(leader.nodes()) == len(self.hosts), lambda: str(leader.nodes()))
        for host in self.hosts:
            self.await_node(host.name, "ready")


def _bridge_name(number: int) -> str:
    """Of one length, so that no name is the beginning of another."""
    return f"zoesw{number:03}"


def _free_number(wanted: int) -> int:
    """From 1 to 250, of a bridge and a network that no other swarm of this machine has."""
    numbers = ((wanted + further) % 250 + 1 for further in range(250))
    return next(n for n in numbers if not Path("/sys/class/net", _bridge_name(n)).exists())


def _forbids() -> bool:
    """Whether this machine's firewall drops what a bridge forwards, as a Docker Engine outside sets it."""
    if shutil.which("iptables") is None:
        return False
    found = subprocess.run(["iptables", "-S", "FORWARD"], capture_output=True, text=True, check=False, timeout=10)
    return "-P FORWARD DROP" in found.stdout


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, timeout=10)
