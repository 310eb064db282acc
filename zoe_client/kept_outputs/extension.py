"""Load the extension into Jupyter's server, where it watches the connections between pages and kernels."""

from __future__ import annotations

from typing import Any

from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

from zoe_client.kept_outputs.keeper import Keeper

_PROTOCOL = "v1.kernel.websocket.jupyter.org"
_HEADER, _PARENT, _METADATA = 0, 1, 2
_OF_OUTPUTS = {"stream", "display_data", "execute_result", "error", "clear_output", "update_display_data"}


class WatchedConnection(ZMQChannelsWebsocketConnection):  # type: ignore[misc]
    """A page's connection to a kernel."""

    keeper: Keeper

    def connect(self) -> Any:
        """Connect, after the keeper knows that the page is there."""
        self.keeper.connected(self.kernel_id, self.session_key)
        return super().connect()

    def disconnect(self) -> None:
        """Tell the keeper, and disconnect."""
        self.keeper.disconnected(self.session_key)
        super().disconnect()

    def handle_incoming_message(self, incoming_msg: Any) -> None:
        """Pass a message on to the kernel; the keeper knows runs of cells."""
        if self.subprotocol == _PROTOCOL:
            channel, parts = deserialize_msg_from_ws_v1(incoming_msg)
            if channel == "shell":
                self._know(parts)
        super().handle_incoming_message(incoming_msg)

    def _know(self, parts: list[Any]) -> None:
        header = self.session.unpack(parts[_HEADER])
        if header["msg_type"] == "execute_request":
            cell = self.session.unpack(parts[_METADATA]).get("cellId")
            if cell:
                self.keeper.asked(self.kernel_id, self.session_key, header["msg_id"], cell)

    def _on_zmq_reply(self, stream: Any, msg_list: Any) -> None:
        # A page that is back gets the messages that it missed: their outputs are in the document already.
        if self.subprotocol == _PROTOCOL and self._is_kept(msg_list):
            return
        super()._on_zmq_reply(stream, msg_list)

    def _is_kept(self, parts: list[Any]) -> bool:
        request = self.session.unpack(parts[_PARENT]).get("msg_id", "")
        kept = self.keeper.keeps(self.kernel_id, request)
        return kept and self.session.unpack(parts[_HEADER])["msg_type"] in _OF_OUTPUTS


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    WatchedConnection.keeper = Keeper(server)
    server.web_app.settings["kernel_websocket_connection_class"] = WatchedConnection
    server.io_loop.add_callback(WatchedConnection.keeper.keep_on)
