"""Strategies that the study compares, and the run of one with one workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lab.promises.outcomes import StudyOutcome
from lab.promises.rivals.base import Rival
from lab.promises.rivals.elasticflow import ElasticFlowLike
from lab.promises.rivals.rayon import RayonLike
from lab.promises.rivals.run import RivalRun
from lab.promises.rivals.threesigma import ThreeSigmaLike
from lab.promises.run import RefusalReaction, RunRules, StoreRun
from lab.promises.workload import StudyWorkload
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.finish_times import PromiseWish

SHARE = 0.9
"""Share of cores and bandwidth for promises."""
_DEFAULT = Policy(promise_share=SHARE, promise_offer_s=1.0)
_EDF = replace(_DEFAULT, order="edf", backfill="easy")
DEFAULT, EDF_EASY = "default policy", "EDF + EASY"

RULES: Mapping[str, RunRules] = {
    "FCFS + EASY": RunRules(replace(_DEFAULT, order="fifo", backfill="easy")),
    "EDF": RunRules(replace(_EDF, backfill="none")),
    EDF_EASY: RunRules(_EDF),
    DEFAULT: RunRules(_DEFAULT),
    "promises 50 %": RunRules(_DEFAULT, PromiseWish(0.5)),
    "promises 80 %": RunRules(_DEFAULT, PromiseWish(0.8)),
    "promises 90 %": RunRules(_DEFAULT, PromiseWish(0.9)),
    "promises 95 %": RunRules(_DEFAULT, PromiseWish(0.95)),
    "promises 99 %": RunRules(_DEFAULT, PromiseWish(0.99)),
    "50 %, told": RunRules(_DEFAULT, PromiseWish(0.5), tells=True),
    "90 %, told": RunRules(_DEFAULT, PromiseWish(0.9), tells=True),
    "90 % or less sure": RunRules(_DEFAULT, PromiseWish(0.9), RefusalReaction.LESS_SURE),
    "90 %, less sure, or a wish": RunRules(_EDF, PromiseWish(0.9), RefusalReaction.WISH),
    "50 %, or a wish": RunRules(_EDF, PromiseWish(0.5), RefusalReaction.WISH),
    "50 %, told, or a wish": RunRules(_EDF, PromiseWish(0.5), RefusalReaction.WISH, tells=True),
    "cores only, 90 %": RunRules(_DEFAULT, PromiseWish(0.9), bandwidth=False),
    "bandwidth only, 90 %": RunRules(_DEFAULT, PromiseWish(0.9), cores=False),
    "exact run times": RunRules(_DEFAULT, PromiseWish(0.9), exact=True),
}
RIVALS: Mapping[str, Callable[[], Rival]] = {
    "Rayon-like": RayonLike,
    "ElasticFlow-like": ElasticFlowLike,
    "3Sigma-like": ThreeSigmaLike,
}
CALIBRATED: Mapping[str, str] = {
    "50%": "promises 50 %",
    "80%": "promises 80 %",
    "90%": "promises 90 %",
    "95%": "promises 95 %",
    "99%": "promises 99 %",
    "50%, told": "50 %, told",
    "90%, told": "90 %, told",
}
"""By the confidence, and whether applications report their progress."""
OTHERS = ("FCFS + EASY", "EDF", EDF_EASY, DEFAULT, *RIVALS)
"""Baselines of promises: the best of these in each seed."""
MAIN = (
    *(EDF_EASY, DEFAULT, *RIVALS),
    *(
        "promises 50 %",
        "promises 90 %",
        "50 %, told",
        "90 %, told",
        "90 % or less sure",
        "90 %, less sure, or a wish",
        "50 %, or a wish",
        "50 %, told, or a wish",
    ),
)
CONFIDENCES = ("promises 80 %", "promises 95 %", "promises 99 %")
LEVERS = ("cores only, 90 %", "bandwidth only, 90 %", "exact run times", "FCFS + EASY", "EDF")


def training_executions(workload: StudyWorkload) -> list[Execution]:
    """Return the earlier executions of a workload, which ran under the default policy without deadlines."""
    run = StoreRun(workload.earlier, RunRules(_DEFAULT, learns=False), prefix="h")
    run.run()
    return run.ended_executions()


def outcome(name: str, workload: StudyWorkload, earlier: Iterable[Execution]) -> StudyOutcome:
    """Return the outcome of a workload under the strategy of this name."""
    if name in RIVALS:
        return RivalRun(workload.applications, RIVALS[name](), workload.failures, earlier).run()
    return StoreRun(workload.applications, RULES[name], workload.failures, earlier).run()
