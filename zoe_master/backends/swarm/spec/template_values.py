"""Fill the templates of a component's texts with names and paths inside its container."""

from __future__ import annotations

from zoe_lib.domain.templates import Template, TemplateError, TemplateKind, fill
from zoe_master.backends.base import PeerService, ServiceStart
from zoe_master.backends.failures import CannotStartError
from zoe_master.backends.peers import data_meant, instances_meant, peer_meant
from zoe_master.backends.swarm.spec.names import host_name

SCRATCH = "/tmp"  # noqa: S108 - inside a container it is that container's own
WORKSPACE = "/workspace"
CONFIGURATION = "zoe-storage"
"""Below /run/secrets: the directory with the configuration of Spark and Hadoop for the object store."""
SECRET_FILE = "zoe-execution"  # noqa: S105 - its name, not its content
"""Below /run/secrets: random bytes shared only by the services of one execution."""
SIGN_IN_FILE = "zoe-sign-in"
"""Below /run/secrets: the secret with which the proxy signs in at the service's ports."""


class TemplateFiller:
    """Fills texts for one service. An instance keeps its name and its ports on whatever node it runs."""

    def __init__(self, start: ServiceStart, has_workspace: bool) -> None:
        self._start = start
        self._has_workspace = has_workspace

    def __call__(self, text: str) -> str:
        """Return the filled text; CannotStartError says what is wrong with it."""
        try:
            return fill(text, self._resolve)
        except TemplateError as error:
            raise CannotStartError(f"component {self._start.component.name}: {error}") from error

    def _resolve(self, template: Template) -> str:
        match template.kind:
            case TemplateKind.HOST:
                text = _host_of(peer_meant(self._start, template))
            case TemplateKind.HOSTS:
                text = ",".join(
                    _host_of(peer) for peer in instances_meant(self._start, template) if peer.node is not None
                )
            case TemplateKind.PORT:
                text = str(self._port(template))
            case TemplateKind.SCRATCH:
                text = SCRATCH
            case TemplateKind.WORKSPACE | TemplateKind.SHARED:
                text = self._workspace()  # one directory for all users of the tenant
            case TemplateKind.INDEX:
                text = str(self._start.index)
            case TemplateKind.EXECUTION:
                text = self._start.execution_id
            case TemplateKind.USER:
                text = self._start.user
            case TemplateKind.SECRET_FILE:
                text = f"/run/secrets/{SIGN_IN_FILE}"
            case TemplateKind.COLUMNS:
                text = data_meant(self._start, template)
            case TemplateKind.INPUT | TemplateKind.OUTPUT:
                text = self(data_meant(self._start, template))
        return text

    def _workspace(self) -> str:
        if not self._has_workspace:
            raise CannotStartError("this installation has no workspaces: ZOE_SWARM_WORKSPACES_DIR is not set")
        return WORKSPACE

    def _port(self, template: Template) -> int:
        assert template.port is not None
        for port in peer_meant(self._start, template).ports:
            if port.name == template.port:
                return port.number
        raise CannotStartError(f"{template}: the port does not exist")


def _host_of(peer: PeerService) -> str:
    return host_name(peer.component, peer.index)
