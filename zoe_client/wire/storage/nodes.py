"""Nodes of the object store: states and restarts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from zoe_client.wire.base import Wire


class StorageDiskView(Wire):
    """A disk of a node."""

    name: str
    used: float | None = Field(description="Used part, from 0 to 1; null: it is not mounted.")


class StorageRestartView(Wire):
    """A restart of a node."""

    author: str | None
    began_s: float
    ended_s: float | None = Field(description="Null while it runs.")
    code: int | None = Field(
        description="Exit code of the restart program; null while it runs, and if it was killed or did not start."
    )
    output: str = Field(description="End of the restart program's output.")


class StorageNodeView(Wire):
    """A server of the object store, as of the storage controller's last poll."""

    name: str
    kind: Literal["proxy", "account", "container", "object"]
    state: Literal["up", "slow", "failing", "away", "unknown"] = Field(
        description="`failing`: it answers with a problem; `away`: it does not answer; `unknown`: not polled."
    )
    reason: str = Field(description="Why it is not up; empty if it is.")
    since_s: float | None = Field(description="Start of this state, as observed by the controller.")
    at_s: float | None = Field(description="Time of the last poll.")
    latency_s: float | None = Field(description="Latency of its last answer in seconds; null without an answer.")
    recon: bool = Field(description="Whether it reports its disks: `recon` is in its pipeline.")
    disks: list[StorageDiskView] = Field(default=[], description="Its reported disks.")
    quarantined: int = Field(default=0, description="Number of quarantined objects or databases.")
    pending: int | None = Field(default=None, description="Pending updates of listings at an object server.")
    replicated_s: float | None = Field(default=None, description="End of its last replication pass, if reported.")
    restartable: bool = Field(description="Whether the controller can restart it.")
    restart: StorageRestartView | None = Field(default=None, description="Last restart since the controller started.")


class StorageNodeList(Wire):
    """Nodes, in the order of the controller's settings."""

    nodes: list[StorageNodeView]
