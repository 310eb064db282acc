"""Requests and responses of the API, shared by the server and the SDK. Times are seconds since the epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoe_client.lazy_names import lazy_names

if TYPE_CHECKING:
    from zoe_client.wire.base import *  # noqa: F403
    from zoe_client.wire.batch.arrays import *  # noqa: F403
    from zoe_client.wire.batch.schedules import *  # noqa: F403
    from zoe_client.wire.batch.workflows import *  # noqa: F403
    from zoe_client.wire.cluster.cluster import *  # noqa: F403
    from zoe_client.wire.cluster.places import *  # noqa: F403
    from zoe_client.wire.cluster.policy import *  # noqa: F403
    from zoe_client.wire.cluster.prices import *  # noqa: F403
    from zoe_client.wire.cluster.replays import *  # noqa: F403
    from zoe_client.wire.cluster.use import *  # noqa: F403
    from zoe_client.wire.documents import *  # noqa: F403
    from zoe_client.wire.executions.deadlines import *  # noqa: F403
    from zoe_client.wire.executions.diffs import *  # noqa: F403
    from zoe_client.wire.executions.executions import *  # noqa: F403
    from zoe_client.wire.executions.following import *  # noqa: F403
    from zoe_client.wire.executions.node_loss import *  # noqa: F403
    from zoe_client.wire.executions.promises import *  # noqa: F403
    from zoe_client.wire.executions.sharing import *  # noqa: F403
    from zoe_client.wire.people.credentials import *  # noqa: F403
    from zoe_client.wire.people.files import *  # noqa: F403
    from zoe_client.wire.people.machines import *  # noqa: F403
    from zoe_client.wire.people.notifications import *  # noqa: F403
    from zoe_client.wire.people.people import *  # noqa: F403
    from zoe_client.wire.people.secrets import *  # noqa: F403
    from zoe_client.wire.people.terminals import *  # noqa: F403
    from zoe_client.wire.storage.capacity import *  # noqa: F403
    from zoe_client.wire.storage.controllers import *  # noqa: F403
    from zoe_client.wire.storage.cores import *  # noqa: F403
    from zoe_client.wire.storage.filters import *  # noqa: F403
    from zoe_client.wire.storage.history import *  # noqa: F403
    from zoe_client.wire.storage.nodes import *  # noqa: F403
    from zoe_client.wire.storage.rewrites import *  # noqa: F403
    from zoe_client.wire.storage.rules import *  # noqa: F403
    from zoe_client.wire.storage.slos import *  # noqa: F403
    from zoe_client.wire.storage.traffic import *  # noqa: F403
    from zoe_client.wire.storage.volumes import *  # noqa: F403

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "batch.arrays": (
            "ArrayList",
            "ArrayModifyRequest",
            "ArrayRequest",
            "ArraySummary",
            "ArrayView",
            "IndexList",
            "IndexView",
        ),
        "base": ("SECONDS_MAX", "Diagnostic", "Problem", "Wire"),
        "cluster.cluster": (
            "NodeList",
            "NodeView",
            "StatusView",
            "UsageList",
            "UsageView",
            "UseOverTimeView",
            "UsePointView",
        ),
        "people.credentials": ("CredentialList", "CredentialRequest", "CredentialView"),
        "executions.deadlines": ("DeadlineOutlookView", "DeadlineView"),
        "executions.diffs": ("DiffEntry", "DiffPart", "DiffView"),
        "documents": (
            "AmountView",
            "ArrayPlanView",
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
        "executions.executions": (
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
            "InstancesView",
            "OwnUseView",
            "ServiceConditionView",
            "ModifyRequest",
            "ProgressView",
            "ReasonView",
            "ScaleRequest",
            "ServiceView",
            "StoreQueriesReport",
            "StoreQueryReport",
            "StoreQueryView",
            "SubmitRequest",
            "TransfersView",
        ),
        "batch.workflows": (
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
        "people.files": (
            "DirectoryRequest",
            "FileEntry",
            "FileList",
            "RenameRequest",
            "ResultFile",
            "ResultList",
            "WrittenTree",
        ),
        "executions.following": (
            "AddressView",
            "EventList",
            "EventView",
            "LogChunkView",
            "OpenView",
            "WaitShare",
            "WaitSpan",
            "WhyWaited",
        ),
        "cluster.places": ("HeldView", "InputPlacesView"),
        "people.people": (
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
        "cluster.policy": (
            "DryRunView",
            "NodeHoldView",
            "PassView",
            "PluginList",
            "PluginView",
            "PolicyView",
            "TenantLimitView",
            "UserLimitView",
        ),
        "cluster.prices": (
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
        "executions.node_loss": ("LongerWaitView", "LosingView", "NodeLossRequest", "NodeLossView", "RestartView"),
        "executions.promises": (
            "AcceptRequest",
            "FinishTermsView",
            "OfferView",
            "OffersView",
            "PromiseAdjustmentView",
            "PromiseOutlookView",
            "PromiseView",
            "PromiseNoticeView",
        ),
        "cluster.replays": ("ReplayPointView", "ReplayRequest", "ReplayView"),
        "people.machines": (
            "MachineAnswer",
            "MachineAsked",
            "MachineDecision",
            "MachineRequest",
            "MachineSecret",
            "MachineView",
        ),
        "people.notifications": ("TargetList", "TargetRequest", "TargetView"),
        "batch.schedules": (
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
        "people.secrets": ("SecretList", "SecretRequest", "SecretView"),
        "executions.sharing": ("ShareList", "ShareRequest", "ShareView"),
        "storage.capacity": (
            "BandwidthOverTimeView",
            "BandwidthPointView",
            "BandwidthView",
            "ExecutionBandwidthView",
            "StorageCaveatView",
            "StorageView",
            "StorageWaitView",
            "TenantBandwidthView",
        ),
        "storage.controllers": (
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
        "storage.cores": ("StorageCoresList", "StorageCoresRequest", "StorageCoresView"),
        "storage.filters": (
            "StorageFilterFile",
            "StorageFilterList",
            "StorageFilterRequest",
            "StorageFilterVersionView",
            "StorageFilterView",
        ),
        "storage.history": (
            "ExecutionStorageView",
            "ExecutionUsesView",
            "StorageHistoryView",
            "StoragePointView",
            "StorageRequestsView",
            "StorageRuleMetView",
            "StorageUseView",
            "StorageUsesView",
        ),
        "storage.nodes": ("StorageDiskView", "StorageNodeList", "StorageNodeView", "StorageRestartView"),
        "storage.rewrites": ("StorageRewriteList", "StorageRewriteRequest", "StorageRewriteView"),
        "storage.rules": (
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
        "storage.slos": ("StorageSloList", "StorageSloRequest", "StorageSloView"),
        "storage.traffic": ("StorageTrafficRow", "StorageTrafficView"),
        "storage.volumes": ("VolumeList", "VolumePolicyView", "VolumeRequest", "VolumeView"),
        "people.terminals": ("TerminalOpening",),
        "cluster.use": (
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
