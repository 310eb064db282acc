"""The sockets between the controller and the proxies and object servers: limits go out, reports come in."""

from __future__ import annotations

from dataclasses import dataclass

import zmq
from zmq.auth.thread import ThreadAuthenticator

from zoe_lib.messaging.keys import AllowedKeys


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Addresses on which the loop listens, its CURVE key pair, and the public keys of the admitted proxies, all in
    Z85.
    """

    limits: str
    usage: str
    public_key: bytes
    secret_key: bytes
    proxies: frozenset[bytes]


class Servers:
    """Both sockets, with CURVE; only admitted proxies connect."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._context = zmq.Context()
        self._authenticator = ThreadAuthenticator(self._context)
        self._authenticator.start()
        self._authenticator.configure_curve_callback(credentials_provider=AllowedKeys(endpoints.proxies))
        self.limits = self._context.socket(zmq.PUB)
        self.reports = self._context.socket(zmq.PULL)
        for socket, address in ((self.limits, endpoints.limits), (self.reports, endpoints.usage)):
            socket.curve_server = True
            socket.curve_publickey, socket.curve_secretkey = endpoints.public_key, endpoints.secret_key
            socket.bind(address)

    def close(self) -> None:
        """Close both."""
        self._authenticator.stop()
        self._context.destroy(linger=0)
