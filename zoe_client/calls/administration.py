"""Administration of people: `Client.admin`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zoe_client import wire
from zoe_client.http.transport import Transport, path_part
from zoe_client.vocabulary import Role


class Administration:
    """Users, tenants, roles, quotas, tokens, and the audit log; needs the scope `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def users(self) -> wire.UserList:
        """Return all users with their roles."""
        return self._transport.call(wire.UserList, "GET", "/admin/users")

    def add_user(self, name: str, password: str | None = None) -> wire.UserView:
        """Create a user without membership of a tenant."""
        return self._transport.call(
            wire.UserView, "POST", "/admin/users", body=wire.NewUser(name=name, password=password)
        )

    def change_user(
        self, name: str, *, password: str | None = None, disabled: bool | None = None, end_tokens: bool = False
    ) -> wire.UserView:
        """Set a password, or disable or enable a user."""
        change = wire.UserChange(password=password, disabled=disabled, end_tokens=end_tokens)
        return self._transport.call(wire.UserView, "PATCH", f"/admin/users/{path_part(name)}", body=change)

    def end_access(self, name: str) -> wire.EndedAccessView:
        """End all tokens and sessions of a user."""
        return self._transport.call(wire.EndedAccessView, "DELETE", f"/admin/users/{path_part(name)}/access")

    def tenants(self) -> wire.TenantList:
        """Return all tenants with members and quotas."""
        return self._transport.call(wire.TenantList, "GET", "/admin/tenants")

    def add_tenant(self, name: str) -> wire.QuotaView:
        """Create a tenant."""
        return self._transport.call(wire.QuotaView, "POST", "/admin/tenants", body=wire.NewTenant(name=name))

    def set_quota(
        self,
        tenant: str,
        executions_max: int | None,
        executions_of_user_max: int | None = None,
        time_limit_s_max: float | None = None,
    ) -> wire.QuotaView:
        """Set the maximum executions of a tenant, and of each of its users, that wait or run at the same time, and
        their longest time limit; None is unlimited."""
        quota = wire.QuotaView(
            executions_max=executions_max,
            executions_of_user_max=executions_of_user_max,
            time_limit_s_max=time_limit_s_max,
        )
        return self._transport.call(wire.QuotaView, "PUT", f"/admin/tenants/{path_part(tenant)}/quota", body=quota)

    def price_lists(self, history: bool = False) -> wire.PriceListList:
        """Return the price lists; with `history` also replaced and removed ones."""
        return self._transport.call(
            wire.PriceListList, "GET", "/admin/price-lists", parameters={"history": str(history).lower()}
        )

    def set_price_list(self, document: dict[str, Any], past: bool = False) -> wire.PriceListView:
        """Set a price list, which applies from its `from` on."""
        body = wire.PriceListRequest(document=document, past=past)
        return self._transport.call(wire.PriceListView, "POST", "/admin/price-lists", body=body)

    def check_price_list(self, document: dict[str, Any], past: bool = False) -> None:
        """Check a price list; a refusal names all errors."""
        body = wire.PriceListRequest(document=document, past=past)
        return self._transport.do("POST", "/admin/price-lists:check", body=body)

    def remove_price_list(self, list_id: int, *, past: bool = False) -> None:
        """Remove a price list that has not begun; with `past`, also one by which no month was closed."""
        parameters = {"past": "true"} if past else None
        return self._transport.do("DELETE", f"/admin/price-lists/{list_id}", parameters=parameters)

    def close_statement(self, month: str) -> wire.StatementView:
        """Close a month for all tenants: its statements stay as they are."""
        return self._transport.call(wire.StatementView, "POST", f"/admin/statements/{path_part(month)}/close")

    def reopen_statement(self, month: str) -> wire.StatementView:
        """Open the last closed month again, as long as only admins have seen its statements."""
        return self._transport.call(wire.StatementView, "POST", f"/admin/statements/{path_part(month)}/reopen")

    def budgets(self) -> wire.BudgetList:
        """Return all budgets and the amounts spent."""
        return self._transport.call(wire.BudgetList, "GET", "/admin/budgets")

    def set_budget(self, budget: wire.BudgetChange) -> wire.BudgetChange:
        """Set the amount that a tenant or a user may spend in each month."""
        return self._transport.call(wire.BudgetChange, "PUT", "/admin/budgets", body=budget)

    def clear_budget(self, tenant: str, user: str | None = None) -> None:
        """Clear a budget."""
        return self._transport.do("DELETE", "/admin/budgets", parameters={"tenant": tenant, "user": user})

    def limits(self, tenant: str | None = None, user: str | None = None) -> wire.LimitList:
        """Return all limits, or those of a tenant, with their use."""
        parameters = {"tenant": tenant, "user": user}
        return self._transport.call(wire.LimitList, "GET", "/admin/limits", parameters=parameters)

    def set_limit(self, amounts: wire.LimitAmounts, tenant: str = "*", user: str | None = None) -> wire.LimitView:
        """Set amounts for all tenants, a tenant, each of its users (`*`) or one user; amounts that are not given
        stay.
        """
        change = wire.LimitChange(tenant=tenant, user=user, amounts=amounts)
        return self._transport.call(wire.LimitView, "PUT", "/admin/limits", body=change)

    def clear_limit(self, tenant: str = "*", user: str | None = None, amounts: Sequence[str] = ()) -> None:
        """Clear amounts of a limit, or all, so that the default applies again."""
        parameters = {"tenant": tenant, "user": user, "amount": list(amounts)}
        return self._transport.do("DELETE", "/admin/limits", parameters=parameters)

    def set_role(self, user: str, tenant: str, role: Role) -> wire.MemberView:
        """Add a user to a tenant, or change the user's role there."""
        path = f"/admin/tenants/{path_part(tenant)}/members/{path_part(user)}"
        return self._transport.call(wire.MemberView, "PUT", path, body=wire.RoleChoice(role=role))

    def remove_member(self, user: str, tenant: str) -> None:
        """End a membership, with its tokens and sessions."""
        return self._transport.do("DELETE", f"/admin/tenants/{path_part(tenant)}/members/{path_part(user)}")

    def hand_over(self, user: str, to: str, tenant: str) -> wire.HandOverView:
        """Hand the executions and files of a leaving user over to another user of the tenant, and disable the first.

        One request does a part of the work: repeat it as its answer says.
        """
        path = f"/admin/tenants/{path_part(tenant)}/members/{path_part(user)}/hand-over"
        return self._transport.call(wire.HandOverView, "POST", path, body=wire.HandOver(to=to))

    def tokens(self) -> wire.TokenList:
        """Return the tokens of all users, without their secrets."""
        return self._transport.call(wire.TokenList, "GET", "/admin/tokens")

    def revoke_token(self, token_id: str) -> None:
        """Revoke any user's token at once."""
        return self._transport.do("DELETE", f"/admin/tokens/{path_part(token_id)}")

    def audit(
        self, *, user: str | None = None, action: str | None = None, before: int | None = None, limit: int = 50
    ) -> wire.AuditList:
        """Return the audit log, newest first; `before` is the page's `next_before`."""
        parameters = {"user": user, "action": action, "before": before, "limit": limit}
        return self._transport.call(wire.AuditList, "GET", "/admin/audit", parameters=parameters)
