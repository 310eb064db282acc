"""Differences of values from Slurm: each is reported before the job is submitted."""

from __future__ import annotations

from collections.abc import Callable

from zoe_job.common.job import shown_name
from zoe_job.submission import values


def lost_part(name: str, text: str) -> str | None:
    """Return the ignored part of an option with a valid value, or its different effect; None if it has the effect of
    Slurm.
    """
    judge = _JUDGES.get(name)
    return None if judge is None else judge(text)


def _nodes(text: str) -> str | None:
    _, dash, most = text.partition("-")
    return f"the job gets {values.node_count(text)}, not up to {most.strip()}" if dash else None


def _mail(text: str) -> str | None:
    words = [word.strip().upper() for word in text.split(",")]
    if "ARRAY_TASKS" in words:
        return "an array notifies once, when all its indices have ended"
    return "every failure notifies" if "INVALID_DEPEND" in words else None


def _gpus(text: str) -> str | None:
    models = [model for part in values.generic_parts(text) if (model := values.gpu_model(part))]
    return f"the job gets any GPU: models such as {models[0]} cannot be requested" if models else None


def _signal(text: str) -> str | None:
    flags, colon, _ = text.partition(":")
    return "R needs reservations, which do not exist" if colon and "R" in flags else None


def _name(text: str) -> str | None:
    shown = shown_name(text)
    return None if shown == text else f"lists show {shown!r}; SLURM_JOB_NAME and %x are as given"


def _deadline(_: str) -> str:
    return "a job that cannot end by then continues: lists show that it missed its deadline; --time ends it"


_JUDGES: dict[str, Callable[[str], str | None]] = {
    "nodes": _nodes,
    "mail-type": _mail,
    **dict.fromkeys(("gres", "gpus", "gpus-per-node", "gpus-per-task"), _gpus),
    "signal": _signal,
    "job-name": _name,
    "deadline": _deadline,
}
