"""Reserve ports of loopback until their server listens on them."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self


class HeldPorts:
    """Ports chosen by the kernel, and reserved against programs that do not know them, until `close`.

    They are bound, but have no listener. On Linux a server may listen on such a port, with SO_REUSEADDR on both sides
    as servers set it, while the kernel gives it neither to other programs that request any port nor to connections.
    Ports that were merely found free can be lost between finding and use.
    """

    def __init__(self, count: int) -> None:
        self._sockets = [socket.socket() for _ in range(count)]
        try:
            for socket_ in self._sockets:
                socket_.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                socket_.bind(("127.0.0.1", 0))
        except BaseException:
            self.close()
            raise
        self.numbers: list[int] = [socket.getsockname()[1] for socket in self._sockets]

    def close(self) -> None:
        """Release the ports; servers that listen on them continue."""
        for listening in self._sockets:
            listening.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
