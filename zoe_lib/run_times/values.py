"""Settings and samples of runs."""

from __future__ import annotations

from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class RunSetting:
    """The resources and inputs of a run, known before it begins.
    cores: of the services that share the work, on average over the run.
    delivered_bytes: bytes that the object store delivers for its inputs, after projection and selection; None: unknown.
    rate: bytes per second at which the store delivers while the run waits for it; None: unknown, or not limited.
    guaranteed: guaranteed minimum in bytes per second; None: no guarantee.
    views: whether its inputs with a pushdown are read through views; None: unknown, some are, or it has none.
    """

    cores: float = 1.0
    delivered_bytes: float | None = None
    rate: float | None = None
    guaranteed: float | None = None
    views: bool | None = None


@value(frozen=True, slots=True)
class RunSample:
    """A successful run: its setting, and its times.
    start_s: from placement until all essential services were ready. work_s: from there to the end. busy: the share of
    these cores that computed, from 0 to 1; None: not measured. share: bytes that a view would have delivered for each
    byte of the plain objects; None: unknown.
    """

    setting: RunSetting
    start_s: float
    work_s: float
    busy: float | None = None
    share: float | None = None
