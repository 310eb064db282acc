"""How Spark drivers report to the API what their queries read: properties for Hadoop's file of credentials."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from zoe_lib.domain.executions.execution import Execution
from zoe_lib.tokens.job_tokens import QUERIES, JobToken, JobTokens


class QueryReportSettings:
    """Makes the properties. api_url: None if services cannot reach the API."""

    def __init__(self, keys_dir: Path = Path(), api_url: str | None = None) -> None:
        self._keys_dir = keys_dir
        self._api_url = api_url

    def properties(self, execution: Execution) -> Mapping[str, str]:
        """Return where a driver reports, and its token for this attempt; nothing if it cannot."""
        if self._api_url is None:
            return {}
        token = JobToken(execution.id, execution.attempt, execution.tenant, execution.user, QUERIES)
        return {
            "zoe.queries.token": JobTokens(self._keys_dir).text(token),
            "zoe.queries.url": f"{self._api_url.rstrip('/')}/api/v1/executions/{execution.id}/queries",
        }
