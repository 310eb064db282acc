"""Calls of the HTTP API about the object store, one request each."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_client import wire
from zoe_client.documents.quantities import bytes_of
from zoe_client.http.transport import Transport, new_name, path_part
from zoe_client.words.names import FILTER_NAME, METRIC_NAME, TENANT_AT_THE_STORE, VOLUME_NAME


class StorageCalls(Transport):
    """Bandwidth, rules, filters, requests, credentials and volumes."""

    def volumes(self) -> wire.VolumeList:
        """List your volumes of blocks in the tenant, and the policies for new ones."""
        return self.call(wire.VolumeList, "GET", "/volumes")

    def volume(self, name: str) -> wire.VolumeView:
        """Return one of your volumes."""
        return self.call(wire.VolumeView, "GET", f"/volumes/{path_part(name)}")

    def create_volume(self, name: str, size: int | str, policy: str = "plain") -> wire.VolumeView:
        """Create a volume of this size (bytes, or a text such as "20GiB"), with its whole space reserved."""
        size_bytes = bytes_of(size) if isinstance(size, str) else size
        body = wire.VolumeRequest(name=new_name(name, VOLUME_NAME), size_bytes=size_bytes, policy=policy)
        return self.call(wire.VolumeView, "POST", "/volumes", body=body, timeout_s=60.0)

    def remove_volume(self, name: str) -> None:
        """Remove a volume and its data for good; refused while it is attached."""
        return self.do("DELETE", f"/volumes/{path_part(name)}")

    def storage(self) -> wire.StorageView:
        """Return the object store's bandwidth: capacity, grants, achieved bandwidth, and waiting executions."""
        return self.call(wire.StorageView, "GET", "/storage")

    def storage_rules(self, removed: bool = False) -> wire.StorageRuleList:
        """List the object store's rules, or the removed ones; for admins."""
        parameters = {"removed": "true" if removed else None}
        return self.call(wire.StorageRuleList, "GET", "/storage/rules", parameters=parameters)

    def add_storage_rules(self, text: str, tenant: str | None = None, dry_run: bool = False) -> wire.StorageRuleList:
        """Add rules, one a line, all of them or none; `tenant` applies to targets that name none. dry_run: evaluate
        rules with metrics, and send none to the proxies.
        """
        body = wire.StorageRuleRequest(text=text, tenant=tenant, dry_run=dry_run)
        return self.call(wire.StorageRuleList, "POST", "/storage/rules", body=body)

    def remove_storage_rule(self, number: int) -> None:
        """Remove a rule of the object store; objects stay as they were stored."""
        return self.do("DELETE", f"/storage/rules/{number}")

    def restore_storage_rule(self, number: int) -> wire.StorageRuleView:
        """Add a removed rule again, under a new number, with the filter versions that it ran; for admins."""
        return self.call(wire.StorageRuleView, "POST", f"/storage/rules/{number}/restore", timeout_s=60.0)

    def move_storage_rule(self, number: int, name: str, sha256: str | None = None) -> wire.StorageRuleView:
        """Move a rule to another version of an uploaded filter, by default the newest; for admins."""
        path = f"/storage/rules/{number}/filters/{path_part(name)}"
        body = wire.StorageRuleMove(sha256=sha256)
        return self.call(wire.StorageRuleView, "PUT", path, body=body, timeout_s=60.0)  # server tries it first

    def try_storage_rules(self, wanted: wire.StorageRuleTry) -> wire.StorageRuleTryView:
        """Return the filters that an object would get, now and with additional rules; nothing changes."""
        return self.call(wire.StorageRuleTryView, "POST", "/storage/try", body=wanted, again=True)

    def storage_metrics(self) -> wire.StorageMetricList:
        """List the metrics added for rules, with their present values; for admins."""
        return self.call(wire.StorageMetricList, "GET", "/storage/metrics")

    def add_storage_metric(self, name: str, wanted: wire.StorageMetricRequest) -> wire.StorageMetricView:
        """Add a metric that rules may compare: an expression of PromQL, or a program in Python."""
        path = f"/storage/metrics/{new_name(name, METRIC_NAME)}"
        return self.call(wire.StorageMetricView, "POST", path, body=wanted, timeout_s=60.0)  # server starts it once

    def remove_storage_metric(self, name: str) -> None:
        """Remove a metric that no rule uses."""
        return self.do("DELETE", f"/storage/metrics/{path_part(name)}")

    def storage_controllers(self) -> wire.StorageControllerList:
        """List the object store's controllers and their last actions; for admins."""
        return self.call(wire.StorageControllerList, "GET", "/storage/controllers")

    def storage_controller(self, name: str) -> wire.StorageControllerView:
        """Return a controller such as `rule-7`, with its last switches."""
        return self.call(wire.StorageControllerView, "GET", f"/storage/controllers/{path_part(name)}")

    def set_storage_controller(self, name: str, mode: str) -> wire.StorageControllerView:
        """Set a controller to `on`, `dry` (it decides, and changes nothing) or `off`."""
        body = wire.StorageControllerRequest.model_validate({"mode": mode})
        return self.call(wire.StorageControllerView, "PUT", f"/storage/controllers/{path_part(name)}", body=body)

    def storage_nodes(self) -> wire.StorageNodeList:
        """List the object store's servers with their states, times and causes; for admins."""
        return self.call(wire.StorageNodeList, "GET", "/storage/nodes")

    def restart_storage_node(self, name: str) -> wire.StorageNodeView:
        """Begin to restart a server of the object store; `storage_nodes` shows the outcome."""
        return self.call(wire.StorageNodeView, "POST", f"/storage/nodes/{path_part(name)}/restart")

    def storage_filters(self, everyone: bool = False) -> wire.StorageFilterList:
        """List the filters that rules for your tenant may use, or with `everyone` those of all tenants, for admins."""
        parameters = {"everyone": "true" if everyone else None}
        return self.call(wire.StorageFilterList, "GET", "/storage/filters", parameters=parameters)

    def upload_storage_filter(self, name: str, wanted: wire.StorageFilterRequest) -> wire.StorageFilterView:
        """Upload a WebAssembly module as a filter, or a new version of one."""
        path = f"/storage/filters/{new_name(name, FILTER_NAME)}"
        return self.call(wire.StorageFilterView, "PUT", path, body=wanted, timeout_s=60.0)  # server compiles it first

    def remove_storage_filter(self, name: str, tenant: str | None = None, shared: bool = False) -> None:
        """Remove an uploaded filter that no rule uses."""
        parameters = {"tenant": tenant, "shared": "true" if shared else None}
        return self.do("DELETE", f"/storage/filters/{path_part(name)}", parameters=parameters)

    def remove_storage_filter_version(self, name: str, sha256: str, tenant: str | None = None) -> None:
        """Remove a version of a filter that neither a rule nor a stored object needs; for admins."""
        path = f"/storage/filters/{path_part(name)}/versions/{path_part(sha256)}"
        return self.do("DELETE", path, parameters={"tenant": tenant})

    def why_stored(self, container: str, name: str, tenant: str | None = None) -> wire.StorageWhyView:
        """Return the filters that processed a stored object, and the rules that set them."""
        parameters = {"container": container, "object": name, "tenant": tenant}
        return self.call(wire.StorageWhyView, "GET", "/storage/why", parameters=parameters)

    def storage_slos(self) -> wire.StorageSloList:
        """List the bandwidth guarantees of tenants and their sources; for admins."""
        return self.call(wire.StorageSloList, "GET", "/storage/slos")

    def set_storage_slo(self, tenant: str, wanted: wire.StorageSloRequest) -> wire.StorageSloView:
        """Guarantee bandwidth to a tenant until the guarantee is removed. None removes a rate; a rate that is not given
        stays.
        """
        rates = wanted.model_dump(mode="json", exclude_unset=True)
        return self.call(
            wire.StorageSloView, "PUT", f"/storage/slos/{new_name(tenant, TENANT_AT_THE_STORE)}", json=rates
        )

    def remove_storage_slo(self, tenant: str) -> None:
        """Remove a tenant's permanent guarantee."""
        return self.do("DELETE", f"/storage/slos/{path_part(tenant)}")

    def storage_cores(self) -> wire.StorageCoresList:
        """List the cores that filters and views of tenants may take at each proxy; for admins."""
        return self.call(wire.StorageCoresList, "GET", "/storage/cores")

    def set_storage_cores(self, tenant: str, wanted: wire.StorageCoresRequest) -> wire.StorageCoresView:
        """Limit the cores of a tenant's filters and views at each proxy until the limit is removed; `*`: all other
        tenants.
        """
        return self.call(
            wire.StorageCoresView, "PUT", f"/storage/cores/{new_name(tenant, TENANT_AT_THE_STORE)}", body=wanted
        )

    def remove_storage_cores(self, tenant: str) -> None:
        """Remove a tenant's limit of cores; the storage controller's setting applies again."""
        return self.do("DELETE", f"/storage/cores/{path_part(tenant)}")

    def storage_rewrites(self) -> wire.StorageRewriteList:
        """List the jobs that store objects again by the present rules, with their progress; for admins."""
        return self.call(wire.StorageRewriteList, "GET", "/storage/rewrites")

    def begin_storage_rewrite(self, wanted: wire.StorageRewriteRequest) -> wire.StorageRewriteView:
        """Store a tenant's objects again by the present rules, or in their original form; Conflict while another job
        runs.
        """
        return self.call(wire.StorageRewriteView, "POST", "/storage/rewrites", body=wanted)

    def resume_storage_rewrite(self, number: int) -> wire.StorageRewriteView:
        """Resume a job that was cancelled or gave up; Conflict while another job runs."""
        return self.call(wire.StorageRewriteView, "POST", f"/storage/rewrites/{number}/resume")

    def cancel_storage_rewrite(self, number: int) -> None:
        """Cancel a job that stores objects again; objects already stored again stay."""
        return self.do("DELETE", f"/storage/rewrites/{number}")

    def execution_storage(self, execution_id: str) -> wire.ExecutionStorageView:
        """Return an execution's requests to the object store, the rules that applied, and its bytes over time."""
        return self.call(wire.ExecutionStorageView, "GET", f"/executions/{path_part(execution_id)}/storage")

    def storage_history(
        self, from_s: float, to_s: float | None = None, tenant: str | None = None
    ) -> wire.StorageHistoryView:
        """Return the executions of a tenant (default: yours) that moved bytes in a period."""
        parameters = {"from_s": from_s, "to_s": to_s, "tenant": tenant}
        return self.call(wire.StorageHistoryView, "GET", "/storage/history", parameters=parameters)

    def storage_traffic(
        self, by: Sequence[str] = ("tenant", "container", "method"), seconds: float = 10.0, tenant: str | None = None
    ) -> wire.StorageTrafficView:
        """Return rates of recent requests at the object store's proxies, largest first; `by`: any of tenant, container,
        method and proxy; `key`, the signer, instead of the container; or `node`, an object server, instead of the
        proxy.
        """
        parameters = {"by": ",".join(by), "seconds": seconds, "tenant": tenant}
        return self.call(wire.StorageTrafficView, "GET", "/storage/traffic", parameters=parameters)

    def storage_credentials(self, tenant: str | None = None) -> wire.CredentialList:
        """Return the services with credentials, without their keys; admins may give another tenant."""
        return self.call(wire.CredentialList, "GET", "/storage/credentials", parameters={"tenant": tenant})

    def set_storage_credential(
        self, service: str, request: wire.CredentialRequest, tenant: str | None = None
    ) -> wire.CredentialView:
        """Store the tenant's login for a service."""
        path = f"/storage/credentials/{path_part(service)}"
        return self.call(wire.CredentialView, "PUT", path, body=request, parameters={"tenant": tenant})

    def remove_storage_credential(self, service: str, tenant: str | None = None) -> None:
        """Remove the tenant's login for a service."""
        return self.do("DELETE", f"/storage/credentials/{path_part(service)}", parameters={"tenant": tenant})
