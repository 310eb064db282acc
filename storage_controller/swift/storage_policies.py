"""Storage policies of Swift: list them, and create new ones by the program of the settings."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from storage_controller.answers import RequestRefusedError
from storage_controller.nodes.command import run
from storage_controller.nodes.restarts import Run

_log = logging.getLogger(__name__)
_PARTITIONS_MAX = 2**22
Device = Annotated[str, StringConstraints(max_length=300, pattern=r"^r\d+z\d+-[^\s/]+:\d+/[^\s/]+$")]
Weight = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class NewStoragePolicy(BaseModel):
    """A policy in a request of Crystal's clients: numbers may be strings of digits.

    storage_node: weights by device. partitions: of its ring, a power of two. replicas: of an erasure code, all its
    fragments. time: hours between two moves of a partition. ec_object_segment_size: bytes.
    """

    model_config = ConfigDict(extra="forbid")

    storage_node: Annotated[dict[Device, Weight], Field(min_length=1, max_length=1000)]
    policy_id: Annotated[int, Field(ge=1, le=10_000)]
    name: Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9-]+$")]
    partitions: Annotated[int, Field(ge=1, le=_PARTITIONS_MAX)]
    replicas: Annotated[int, Field(ge=1, le=100)]
    time: Annotated[int, Field(ge=0, le=255)]
    ec_type: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_]+$")] | None = None
    ec_num_data_fragments: Annotated[int, Field(ge=1, le=100)] | None = None
    ec_num_parity_fragments: Annotated[int, Field(ge=1, le=100)] | None = None
    ec_object_segment_size: Annotated[int, Field(ge=1, le=2**30)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.partitions & (self.partitions - 1):
            raise ValueError("partitions is a power of two")
        fragments = self.ec_num_data_fragments, self.ec_num_parity_fragments
        if self.ec_type is None:
            if any((*fragments, self.ec_object_segment_size)):
                raise ValueError("ec_type is missing; a policy of erasure coding needs it")
        elif None in fragments or self.replicas != sum(fragment or 0 for fragment in fragments):
            raise ValueError("replicas is the sum of ec_num_data_fragments and ec_num_parity_fragments")
        return self

    def document(self) -> str:
        """Return the input of the program, as JSON: see `storage_filters/storage_policy.py`."""
        found = self.model_dump(exclude_none=True)
        names = {"storage_node": "devices", "policy_id": "index", "time": "hours"}
        return json.dumps({names.get(name, name): entry for name, entry in found.items()})


class PolicyMaker:
    """Runs the program, one call at a time. command: empty without one; seconds: its timeout."""

    def __init__(self, command: Sequence[str], seconds: float, run_it: Run = run) -> None:
        self._command = command
        self._seconds = seconds
        self._run_it = run_it
        self._running = threading.Lock()

    def make(self, wanted: NewStoragePolicy) -> str:
        """Create a policy and return the output of the program. Raises RequestRefusedError."""
        if not self._command:
            raise RequestRefusedError(
                409,
                "a storage policy is part of Swift's rings and swift.conf: set swift_policy_command of zoe-storage to "
                "a program that does so, or do it yourself; then it is listed here",
            )
        if not self._running.acquire(blocking=False):
            raise RequestRefusedError(409, "another storage policy is being created")
        try:
            code, output = self._run_it([*self._command, wanted.document()], self._seconds)
        finally:
            self._running.release()
        _log.warning("making the storage policy %s (%d) ended with %s", wanted.name, wanted.policy_id, code)
        if code != 0:
            raise RequestRefusedError(
                409, f"the storage policy {wanted.name} was not made: {output or f'exit code {code}'}"
            )
        return output
