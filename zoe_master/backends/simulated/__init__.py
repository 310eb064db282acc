"""A back-end without processes: services follow a Behaviour in the time of an injected clock."""

from zoe_master.backends.simulated.backend import SimulatedBackend
from zoe_master.backends.simulated.behaviour import ServiceBehaviour, SimulatedClock
from zoe_master.backends.simulated.faults import (
    BackendForgetsStarts,
    BackendRefusesStarts,
    BackendUnreachable,
    IgnoresTerminate,
    NeverReady,
    RunsOutOfMemory,
    StartFails,
)

__all__ = [
    "BackendForgetsStarts",
    "BackendRefusesStarts",
    "BackendUnreachable",
    "IgnoresTerminate",
    "NeverReady",
    "RunsOutOfMemory",
    "ServiceBehaviour",
    "SimulatedBackend",
    "SimulatedClock",
    "StartFails",
]
