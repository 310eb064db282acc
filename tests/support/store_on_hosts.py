"""A Swift whose object servers run on several hosts, with a proxy on each that reads from its own disks first."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.hosts import Hosts
from tests.support.waiting import until
from zoe_embedded.home import Home
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.swift.configuration import LOOPBACK, StoreConfiguration
from zoe_embedded.swift.environment import ensure_swift
from zoe_embedded.swift.store import ObjectStore

_NEAR_PORT = 8080


class StoreOnHosts(ObjectStore):
    """`auth_url`: of the proxy beside them, `near_url`: leads each host to its own one."""

    def __init__(self, home: Home, directory: Path, configuration: StoreConfiguration, hosts: Hosts) -> None:
        super().__init__(home, directory, configuration)
        self._hosts = hosts

    @property
    def near_url(self) -> str:
        """Where users on a host log in: the same for all of them."""
        return f"http://{self._hosts.near}:{_NEAR_PORT}/auth/v1.0"

    def __enter__(self) -> StoreOnHosts:
        super().__enter__()
        try:
            environment = ensure_swift(self._home)
            for number, _ in enumerate(self._hosts.addresses, 1):
                (self.directory / f"near-{number}.conf").write_text(self._near_proxy(number))
                self._begin(environment, f"near-{number}", "proxy")
            for number, _ in enumerate(self._hosts.addresses, 1):
                until(lambda n=number: self._near_answers(n - 1), lambda n=number: self.log_of(f"near-{n}"))
        except BaseException:
            self.close()
            raise
        return self

    def _near_proxy(self, number: int) -> str:
        """As the first one, with addresses that a host has, and the zone of this one before others."""
        near = f"sorting_method = affinity\nread_affinity = r1z{number}=100\n[filter:catch_errors]"
        text = (self.directory / "proxy.conf").read_text()
        for before, now in (
            (f"bind_ip = {LOOPBACK}\nbind_port = {self._known_ports().proxy}", f"bind_ip = {self._hosts.near}\n"
             f"bind_port = {_NEAR_PORT}"),
            (f"memcache_servers = {LOOPBACK}", f"memcache_servers = {self._hosts.outside}"),
            ("/rates\n", f"/rates-{number}\n"),
            ("[filter:catch_errors]", near),
        ):  # fmt: skip
            assert before in text
            text = text.replace(before, now)
        return text.replace("limits_from", "# limits_from").replace("usage_to", "# usage_to")

    def _near_answers(self, host: int) -> bool:
        probe = f"import socket; socket.create_connection(('{self._hosts.near}', {_NEAR_PORT}), 1)"
        command = self._hosts.on(host, ["python3", "-c", probe])
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    def _spawn(self, name: str, command: list[str]) -> None:
        kind, _, number = name.partition("-")
        if kind == "memcached":
            command[command.index(LOOPBACK)] = f"{LOOPBACK},{self._hosts.outside}"
        if not number:
            super()._spawn(name, command)
            return
        on_host = self._hosts.on(int(number) - 1, command, self._uid, self._gid)
        with log_to(self.directory / f"{name}.log") as log:
            self._processes[name] = subprocess.Popen(on_host, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
