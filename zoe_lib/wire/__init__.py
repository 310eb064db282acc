"""Requests and responses of the API: one truth for the server and the SDK. Times are seconds since the epoch."""

from __future__ import annotations

from zoe_lib.wire.base import SECONDS_MAX, Diagnostic, Problem, Wire
from zoe_lib.wire.cluster import NodeList, NodeView, StatusView, UsageList, UsageView
from zoe_lib.wire.credentials import CredentialList, CredentialRequest, CredentialView
from zoe_lib.wire.documents import (
    CatalogueEntryView,
    CatalogueList,
    ConvertRequest,
    ConvertResponse,
    PlanRequest,
    PlanView,
    ValidateRequest,
    ValidateResponse,
)
from zoe_lib.wire.executions import (
    ChangeView,
    Eta,
    ExecutionList,
    ExecutionSummary,
    ExecutionView,
    Explanation,
    ForecastView,
    InputReadView,
    ReasonView,
    ServiceView,
    SubmitRequest,
)
from zoe_lib.wire.following import AddressView, EventList, EventView, LogChunkView, WaitShare, WaitSpan, WhyWaited
from zoe_lib.wire.people import PrincipalView, TokenList, TokenRequest, TokenView
from zoe_lib.wire.policy import DryRunView, NodeHoldView, PassView, PolicyView, TenantLimitView
from zoe_lib.wire.replays import ReplayRequest, ReplayView
from zoe_lib.wire.use import DailyUse, DayUseView

__all__ = [
    "SECONDS_MAX",
    "AddressView",
    "CatalogueEntryView",
    "CatalogueList",
    "ChangeView",
    "ConvertRequest",
    "ConvertResponse",
    "CredentialList",
    "CredentialRequest",
    "CredentialView",
    "DailyUse",
    "DayUseView",
    "Diagnostic",
    "DryRunView",
    "Eta",
    "EventList",
    "EventView",
    "ExecutionList",
    "ExecutionSummary",
    "ExecutionView",
    "Explanation",
    "ForecastView",
    "InputReadView",
    "LogChunkView",
    "NodeHoldView",
    "NodeList",
    "NodeView",
    "PassView",
    "PlanRequest",
    "PlanView",
    "PolicyView",
    "PrincipalView",
    "Problem",
    "ReasonView",
    "ReplayRequest",
    "ReplayView",
    "ServiceView",
    "StatusView",
    "SubmitRequest",
    "TenantLimitView",
    "TokenList",
    "TokenRequest",
    "TokenView",
    "UsageList",
    "UsageView",
    "ValidateRequest",
    "ValidateResponse",
    "WaitShare",
    "WaitSpan",
    "WhyWaited",
    "Wire",
]
