"""Nodes of the object store: how each is, and restarts."""

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
        description="Exit code of its program; null while it runs, and if it was killed or did not start."
    )
    output: str = Field(description="The end of what its program said.")


class StorageNodeView(Wire):
    """A server of the object store, as the storage controller found it when it last asked."""

    name: str
    kind: Literal["proxy", "account", "container", "object"]
    state: Literal["up", "slow", "failing", "away", "unknown"] = Field(
        description="`failing`: it answers and something is wrong; `away`: it does not answer; `unknown`: not asked."
    )
    reason: str = Field(description="Why it is not up; empty if it is.")
    since_s: float | None = Field(description="Since when it is in this state, as far as the controller saw.")
    at_s: float | None = Field(description="When it was asked last.")
    latency_s: float | None = Field(description="Time to its answer then; null if there was none.")
    recon: bool = Field(description="Whether it tells of its disks: `recon` is in its pipeline.")
    disks: list[StorageDiskView] = Field(default=[], description="As far as it told.")
    quarantined: int = Field(default=0, description="Objects, or databases of its kind, that were set aside.")
    pending: int | None = Field(default=None, description="Updates of listings that wait at an object server.")
    replicated_s: float | None = Field(default=None, description="When its last replication pass ended, if it told.")
    restartable: bool = Field(description="Whether the controller knows how to restart it.")
    restart: StorageRestartView | None = Field(default=None, description="The last one, since the controller began.")


class StorageNodeList(Wire):
    """Nodes, in the order of the controller's settings."""

    nodes: list[StorageNodeView]
