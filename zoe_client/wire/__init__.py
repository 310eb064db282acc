"""Requests and responses of the API, shared by the server and the SDK. Times are seconds since the epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoe_client.lazy_names import lazy_names

if TYPE_CHECKING:
    from zoe_client.wire.arrays import *  # noqa: F403
    from zoe_client.wire.base import *  # noqa: F403
    from zoe_client.wire.cluster import *  # noqa: F403
    from zoe_client.wire.credentials import *  # noqa: F403
    from zoe_client.wire.deadlines import *  # noqa: F403
    from zoe_client.wire.diffs import *  # noqa: F403
    from zoe_client.wire.documents import *  # noqa: F403
    from zoe_client.wire.executions import *  # noqa: F403
    from zoe_client.wire.files import *  # noqa: F403
    from zoe_client.wire.following import *  # noqa: F403
    from zoe_client.wire.machines import *  # noqa: F403
    from zoe_client.wire.notifications import *  # noqa: F403
    from zoe_client.wire.people import *  # noqa: F403
    from zoe_client.wire.places import *  # noqa: F403
    from zoe_client.wire.policy import *  # noqa: F403
    from zoe_client.wire.prices import *  # noqa: F403
    from zoe_client.wire.promises import *  # noqa: F403
    from zoe_client.wire.replays import *  # noqa: F403
    from zoe_client.wire.schedules import *  # noqa: F403
    from zoe_client.wire.secrets import *  # noqa: F403
    from zoe_client.wire.sharing import *  # noqa: F403
    from zoe_client.wire.storage import *  # noqa: F403
    from zoe_client.wire.storage_controllers import *  # noqa: F403
    from zoe_client.wire.storage_cores import *  # noqa: F403
    from zoe_client.wire.storage_filters import *  # noqa: F403
    from zoe_client.wire.storage_history import *  # noqa: F403
    from zoe_client.wire.storage_nodes import *  # noqa: F403
    from zoe_client.wire.storage_rewrites import *  # noqa: F403
    from zoe_client.wire.storage_rules import *  # noqa: F403
    from zoe_client.wire.storage_slos import *  # noqa: F403
    from zoe_client.wire.storage_traffic import *  # noqa: F403
    from zoe_client.wire.terminals import *  # noqa: F403
    from zoe_client.wire.use import *  # noqa: F403
    from zoe_client.wire.workflows import *  # noqa: F403

__getattr__ = lazy_names(
    __name__,
    {
        "arrays": (
            "ArrayList",
            "ArrayModifyRequest",
            "ArrayRequest",
            "ArraySummary",
            "ArrayView",
            "IndexList",
            "IndexView",
        ),
        "base": ("SECONDS_MAX", "Diagnostic", "Problem", "Wire"),
        "cluster": ("NodeList", "NodeView", "StatusView", "UsageList", "UsageView", "UseOverTimeView", "UsePointView"),
        "credentials": ("CredentialList", "CredentialRequest", "CredentialView"),
        "deadlines": ("DeadlineOutlookView", "DeadlineView"),
        "diffs": ("DiffEntry", "DiffPart", "DiffView"),
        "documents": (
            "AmountView",
            "CatalogueEntryView",
            "CatalogueList",
            "ConvertRequest",
            "ConvertResponse",
            "DemandView",
            "FillRequest",
            "FillResponse",
            "PlanRequest",
            "PlanView",
            "RunTimeView",
            "ValidateRequest",
            "ValidateResponse",
        ),
        "executions": (
            "CancelledFamily",
            "ChangeView",
            "ConditionsView",
            "DependencyView",
            "Eta",
            "BatchRequest",
            "ExecutionBatch",
            "ExecutionList",
            "ExecutionSummary",
            "ExecutionView",
            "ParentJobView",
            "Explanation",
            "ForecastView",
            "InputReadView",
            "ModifyRequest",
            "ProgressView",
            "ReasonView",
            "ScaleRequest",
            "ServiceView",
            "SubmitRequest",
            "TransfersView",
        ),
        "workflows": (
            "EntriesView",
            "StepPlan",
            "StepState",
            "StepView",
            "WorkflowList",
            "WorkflowOf",
            "WorkflowOfferView",
            "PromisePlan",
            "WorkflowPlan",
            "WorkflowPromiseView",
            "WorkflowRequest",
            "WorkflowRiskView",
            "WorkflowState",
            "WorkflowSummary",
            "WorkflowTermsView",
            "WorkflowView",
        ),
        "files": ("DirectoryRequest", "FileEntry", "FileList", "RenameRequest", "ResultFile", "ResultList"),
        "following": (
            "AddressView",
            "EventList",
            "EventView",
            "LogChunkView",
            "OpenView",
            "WaitShare",
            "WaitSpan",
            "WhyWaited",
        ),
        "places": ("HeldView", "InputPlacesView"),
        "people": (
            "AuditEntryView",
            "AuditList",
            "EndedAccessView",
            "HandOver",
            "HandOverView",
            "MemberView",
            "NewTenant",
            "NewUser",
            "PasswordChange",
            "PrincipalView",
            "ProviderList",
            "ProviderView",
            "QuotaView",
            "RoleChoice",
            "SessionView",
            "SignIn",
            "TenantChoice",
            "TenantDetail",
            "TenantList",
            "TokenList",
            "TokenRequest",
            "TokenView",
            "UserChange",
            "UserList",
            "UserView",
        ),
        "policy": (
            "DryRunView",
            "NodeHoldView",
            "PassView",
            "PluginList",
            "PluginView",
            "PolicyView",
            "TenantLimitView",
            "UserLimitView",
        ),
        "prices": (
            "BudgetChange",
            "BudgetList",
            "BudgetView",
            "EstimateView",
            "PriceListList",
            "PriceListRequest",
            "PriceListView",
            "PriceView",
            "StatementLineView",
            "StatementView",
        ),
        "promises": (
            "AcceptRequest",
            "FinishTermsView",
            "OfferView",
            "OffersView",
            "PromiseAdjustmentView",
            "PromiseOutlookView",
            "PromiseView",
            "PromiseNoticeView",
        ),
        "replays": ("ReplayPointView", "ReplayRequest", "ReplayView"),
        "machines": (
            "MachineAnswer",
            "MachineAsked",
            "MachineDecision",
            "MachineRequest",
            "MachineSecret",
            "MachineView",
        ),
        "notifications": ("TargetList", "TargetRequest", "TargetView"),
        "schedules": (
            "DispatchRequest",
            "RunView",
            "BackfillRequest",
            "BackfillView",
            "ScheduleDetail",
            "ScheduleList",
            "ScheduleRequest",
            "ScheduleRunView",
            "ScheduleView",
            "StoredApplicationDetail",
            "StoredApplicationList",
            "StoredApplicationRequest",
            "StoredApplicationView",
        ),
        "secrets": ("SecretList", "SecretRequest", "SecretView"),
        "sharing": ("ShareList", "ShareRequest", "ShareView"),
        "storage": (
            "BandwidthOverTimeView",
            "BandwidthPointView",
            "BandwidthView",
            "ExecutionBandwidthView",
            "StorageCaveatView",
            "StorageView",
            "StorageWaitView",
            "TenantBandwidthView",
        ),
        "storage_controllers": (
            "StorageControllerList",
            "StorageControllerRequest",
            "StorageControllerView",
            "StorageHostingView",
            "StorageMetricList",
            "StorageMetricNew",
            "StorageMetricRequest",
            "StorageMetricValue",
            "StorageMetricView",
            "StorageProxyView",
            "StorageSwitchView",
        ),
        "storage_cores": ("StorageCoresList", "StorageCoresRequest", "StorageCoresView"),
        "storage_filters": (
            "StorageFilterFile",
            "StorageFilterList",
            "StorageFilterRequest",
            "StorageFilterVersionView",
            "StorageFilterView",
        ),
        "storage_history": (
            "ExecutionStorageView",
            "ExecutionUsesView",
            "StorageHistoryView",
            "StoragePointView",
            "StorageRequestsView",
            "StorageRuleMetView",
            "StorageUseView",
            "StorageUsesView",
        ),
        "storage_nodes": ("StorageDiskView", "StorageNodeList", "StorageNodeView", "StorageRestartView"),
        "storage_rewrites": ("StorageRewriteList", "StorageRewriteRequest", "StorageRewriteView"),
        "storage_rules": (
            "StorageChainView",
            "StorageDoneView",
            "StorageRuleList",
            "StorageRuleModuleView",
            "StorageRuleMove",
            "StorageRuleMoved",
            "StorageRuleRequest",
            "StorageRuleTry",
            "StorageRuleTryView",
            "StorageHourView",
            "StorageRuleView",
            "StorageVerdictView",
            "StorageWhyView",
        ),
        "storage_slos": ("StorageSloList", "StorageSloRequest", "StorageSloView"),
        "storage_traffic": ("StorageTrafficRow", "StorageTrafficView"),
        "terminals": ("TerminalOpening",),
        "use": (
            "DailyUse",
            "DayUseView",
            "ExecutionUseList",
            "ExecutionUseView",
            "LimitAmounts",
            "LimitChange",
            "LimitList",
            "LimitView",
            "Meter",
            "MetersView",
            "QuotaMeters",
        ),
    },
)
