"""Fill the templates of a component's texts with names and paths inside its container."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from zoe_lib.domain.applications.templates import Template, TemplateError, TemplateKind, fill
from zoe_master.backends.base import PeerService, ServiceStart
from zoe_master.backends.engine.spec.naming.names import host_name
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.services.peers import referenced_data, referenced_instances, referenced_peer

SCRATCH = "/tmp"  # noqa: S108 - inside a container it is that container's own
WORKSPACE = "/workspace"
SHARED_WORKSPACE = "/shared"
CONFIGURATION = "zoe-storage"
"""Below /run/secrets: the directory with the configuration of Spark and Hadoop for the object store."""
SECRET_FILE = "zoe-execution"  # noqa: S105 - its name, not its content
"""Below /run/secrets: random bytes shared only by the services of one execution."""
SECRETS = "zoe-secrets"
"""Below /run/secrets: the directory with the secrets that the component requests."""
SIGN_IN_FILE = "zoe-sign-in"
"""Below /run/secrets: the secret with which the proxy signs in at the service's ports."""

ENVIRONMENT_FILE = "zoe-environment"
"""Below /run/secrets: the program that runs before a component with sources or requirements."""
SOURCE_SECRETS = "zoe-source-secrets"
"""Below /run/secrets: the directory with the credentials of the sources, by their numbers."""
WHEELS = "/run/zoe-wheels"
"""Mount point of the site's directory of wheels, for components with requirements."""
FILES = "zoe-files"
"""Below /run/secrets: the directory with the component's files."""
_PLACES = {
    TemplateKind.SCRATCH: SCRATCH,
    TemplateKind.FILES: f"/run/secrets/{FILES}",
    TemplateKind.SECRETS: f"/run/secrets/{SECRETS}",
    TemplateKind.SECRET_FILE: f"/run/secrets/{SIGN_IN_FILE}",
}


class TemplateFiller:
    """Fills texts for one service. An instance keeps its name and its ports on whatever node it runs.

    `workspaces`: their mount points. Only the first one exists if all users of the tenant are one system user.
    """

    def __init__(self, start: ServiceStart, workspaces: Collection[str]) -> None:
        self._start = start
        self._workspaces = workspaces

    def __call__(self, text: str) -> str:
        """Return the filled text; CannotStartError explains its errors."""
        try:
            return fill(text, self._resolve)
        except TemplateError as error:
            raise CannotStartError(f"component {self._start.component.name}: {error}") from error

    def _resolve(self, template: Template) -> str:
        match template.kind:
            case TemplateKind.HOST:
                text = _host_of(referenced_peer(self._start, template))
            case TemplateKind.HOSTS:
                text = ",".join(
                    _host_of(peer) for peer in referenced_instances(self._start, template) if peer.node is not None
                )
            case TemplateKind.ADDRESSES:
                text = ",".join(self._addresses(template))
            case TemplateKind.PORT:
                text = str(self._port(template))
            case TemplateKind.SCRATCH | TemplateKind.FILES | TemplateKind.SECRETS | TemplateKind.SECRET_FILE:
                text = _PLACES[template.kind]
            case TemplateKind.WORKSPACE:
                text = self._workspace(WORKSPACE)
            case TemplateKind.SHARED:
                text = self._workspace(SHARED_WORKSPACE)
            case TemplateKind.INDEX | TemplateKind.INSTANCE:
                text = str(self._start.index)
            case TemplateKind.EXECUTION | TemplateKind.ATTEMPT:
                attempts = template.kind is TemplateKind.ATTEMPT
                text = str(self._start.attempt) if attempts else self._start.execution_id
            case TemplateKind.USER:
                text = self._start.user
            case TemplateKind.COLUMNS | TemplateKind.EACH:
                text = referenced_data(self._start, template)
            case TemplateKind.INPUT | TemplateKind.OUTPUT:
                text = self(referenced_data(self._start, template))
        return text

    def _workspace(self, target: str) -> str:
        if not self._workspaces:
            raise CannotStartError("this installation has no workspaces: ZOE_ENGINE_WORKSPACES_DIR is not set")
        return target if target in self._workspaces else WORKSPACE

    def _addresses(self, template: Template) -> Iterator[str]:
        for peer in referenced_instances(self._start, template):
            if peer.node is not None:
                yield f"{_host_of(peer)}:{_port_of(peer, template)}"

    def _port(self, template: Template) -> int:
        return _port_of(referenced_peer(self._start, template), template)


def _port_of(peer: PeerService, template: Template) -> int:
    for port in peer.ports:
        if port.name == template.port:
            return port.number
    raise CannotStartError(f"{template}: the port does not exist")


def _host_of(peer: PeerService) -> str:
    return host_name(peer.component, peer.index)
