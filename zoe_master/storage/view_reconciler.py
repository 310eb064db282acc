"""Make the storage controller's views equal to those that executions need, for this Zoe."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import S3, StorageRefusedError, StorageUnavailableError, View, ViewVerdict
from storage_bridge.pushdown import verdict
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.executions.promises import pushed_down, why_no_view
from zoe_lib.domain.values.storage import CsvInput, InputRead, Pushdown, StorageObject
from zoe_lib.pushdown.predicate import PredicateError, columns, parse
from zoe_master.state.crash_points import CrashPoint, Hit
from zoe_master.storage.tenant_tokens import NoAccessError, NoAnswerError, SignIn, no_token

log = structlog.get_logger(__name__)
_BUCKET_CHARACTERS_MAX = 63
_AFTER_A_FAILURE = "an earlier attempt failed, possibly because of a view"
_PROMISED_PLAIN = "it was promised so, since that costs less"
_UNCHARGED = f"{_AFTER_A_FAILURE}; that attempt does not count as one of its retries"


class InputViews:
    """Decides how inputs with a pushdown are read.

    schemes: the schemes of URIs that may have views. services: the names of existing services; None: unknown.
    """

    def __init__(self, schemes: Sequence[str], services: Collection[str] | None = None) -> None:
        self._schemes = tuple(schemes)
        self._services = services

    def views_for(self, execution: Execution) -> dict[str, View]:
        """Return the views that an execution reads, or may read while undecided, by the names of its inputs."""
        wanted = pushed_down(execution.application)
        if execution.inputs:
            used = {read.name for read in execution.inputs if read.view}
            return {entry.name: _view(execution, entry) for entry in wanted if entry.name in used}
        return {entry.name: _view(execution, entry) for entry in wanted if not self._why_plain(execution, entry)}

    def ways_to_read(
        self,
        execution: Execution,
        verdicts: Mapping[str, ViewVerdict],
        otherwise: str,
        unanswered: bool = True,
    ) -> tuple[InputRead, ...]:
        """Return how each input with a pushdown is read. An input without a verdict is read plainly, for the reason
        `otherwise`. unanswered: whether that is the lack of an answer.
        """
        inputs = pushed_down(execution.application)
        return tuple(self._read(execution, input_, verdicts, otherwise, unanswered) for input_ in inputs)

    def _read(
        self,
        execution: Execution,
        one: StorageObject,
        verdicts: Mapping[str, ViewVerdict],
        otherwise: str,
        unanswered: bool,
    ) -> InputRead:
        if why := self._why_plain(execution, one):
            return InputRead(one.name, one.uri, why=f"plainly: {why}")
        view = _view(execution, one)
        found = verdicts.get(view.id)
        if found is None:
            return InputRead(one.name, one.uri, why=f"plainly: {otherwise}", unanswered=unanswered)
        if not found.used:
            return InputRead(one.name, one.uri, why=found.why, share=found.share)
        return InputRead(one.name, view.uri, view.id, found.columns, found.why, found.share)

    def _why_plain(self, execution: Execution, one: StorageObject) -> str:
        """Return why an input gets no view; empty if it may have one."""
        if why := why_no_view(one, self._schemes, self._services):
            return why
        if one.uri.startswith(f"{S3}://") and len(_view(execution, one).container) > _BUCKET_CHARACTERS_MAX:
            return (
                f"the name of a bucket has at most {_BUCKET_CHARACTERS_MAX} characters; give the input a shorter name"
            )
        # A view may have been the reason. Plain objects are never worse than before.
        if Mark.VIEW_FAILED in execution.marks:
            return _UNCHARGED
        if execution.promise is not None and execution.promise.terms.views is False:
            return _PROMISED_PLAIN
        return _AFTER_A_FAILURE if execution.failed_attempts else ""


def _view(execution: Execution, storage_input: StorageObject) -> View:
    """Return the view of this attempt alone, since a later one may find other objects.

    Its id becomes part of a host name.
    """
    assert storage_input.pushdown is not None
    view_id = f"{execution.id}-{execution.attempt}-{storage_input.name}"
    pushdown = storage_input.pushdown
    csv = storage_input.csv or CsvInput()
    return View(
        view_id,
        execution.tenant,
        storage_input.uri,
        _delivered_columns(pushdown),
        pushdown.where,
        pushdown.types,
        csv.names,
        (("delimiter", csv.delimiter), ("quote", csv.quote), ("escape", csv.escape), ("header", csv.header),
         ("null_text", csv.null_text)) if storage_input.csv else (),
        promised=execution.promise is not None and execution.promise.terms.views is True,
    )  # fmt: skip


def _delivered_columns(pushdown: Pushdown) -> tuple[str, ...]:
    """Return the wanted columns and those of `where`, which the reader compares again; empty: all."""
    if not pushdown.columns or not pushdown.where:
        return pushdown.columns
    try:
        looked_at = columns(parse(pushdown.where))
    except PredicateError:  # written by a version that accepts more than this one
        looked_at = frozenset()
    return tuple(dict.fromkeys((*pushdown.columns, *sorted(looked_at))))


@dataclass(frozen=True, slots=True)
class ViewAnswers:
    """The result of a poll of the views: verdicts, by id; and why others have none yet, which the next poll
    requests.
    """

    verdicts: Mapping[str, ViewVerdict] = field(default_factory=dict)
    unanswered: Mapping[str, str] = field(default_factory=dict)


class ViewReconciler:
    """Polls the views. Whether a view pays is measured once, and forgotten when its input is decided."""

    def __init__(self, controller: StorageController, hit: Hit, sign_in: SignIn = no_token) -> None:
        self._controller = controller
        self._hit = hit
        self._sign_in = sign_in
        self._verdicts: dict[str, ViewVerdict] = {}
        self._unanswered: dict[str, str] = {}

    def answers(self, wanted: Iterable[View], undecided: frozenset[str]) -> ViewAnswers:
        """Do the same as `look`, and also return the views without an answer. Never raises."""
        try:
            return ViewAnswers(self.look(wanted, undecided), dict(self._unanswered))
        except StorageUnavailableError as error:
            log.warning("cannot list the views", why=str(error))
            return ViewAnswers()

    def look(self, wanted: Iterable[View], undecided: frozenset[str]) -> Mapping[str, ViewVerdict]:
        """Make these views and remove all others; return the verdicts on undecided ones. StorageUnavailableError."""
        views = {view.id: view for view in wanted}
        self._verdicts = {view_id: found for view_id, found in self._verdicts.items() if view_id in undecided}
        self._unanswered = {}
        there = {view.id for view in self._controller.views()}
        for view_id in sorted(undecided - self._verdicts.keys()):
            there.add(view_id)
            try:
                self._verdicts[view_id] = self._judge(views[view_id])
            except (StorageUnavailableError, NoAnswerError) as error:
                log.warning("a view cannot be made or measured now", view=view_id, why=str(error))
                self._unanswered[view_id] = str(error)
        keep = {view_id for view_id in views if view_id not in self._verdicts or self._verdicts[view_id].used}
        for view_id in sorted(there - keep):
            self._drop(view_id)
        for view_id in sorted(keep - there):
            self._restore_view(views[view_id])
        return dict(self._verdicts)

    def _judge(self, view: View) -> ViewVerdict:
        """Make and measure a view. StorageUnavailableError, NoAnswerError: without an answer, so retry."""
        try:
            token = self._sign_in(view)
            self._controller.create_view(replace(view, token=token))
            self._hit(CrashPoint.VIEW_MADE)
            return verdict(self._controller.sample(view.id, token), promised=view.promised)
        except StorageRefusedError as refusal:
            return ViewVerdict(False, (), f"plainly: there is no view ({refusal.sentence})")
        except NoAnswerError:
            raise
        except NoAccessError as error:
            return ViewVerdict(False, (), f"plainly: there is no view ({error})")

    def _drop(self, view_id: str) -> None:
        """Remove a view; if that fails, continue with the others, and let the next poll retry."""
        try:
            self._controller.drop_view(view_id)
            self._hit(CrashPoint.VIEW_DROPPED)
        except StorageUnavailableError as error:
            log.warning("an unused view cannot be removed now", view=view_id, why=str(error))

    def _restore_view(self, view: View) -> None:
        """Make a removed view again that is in use; reads fail until it is back."""
        try:
            self._controller.create_view(replace(view, token=self._sign_in(view)))
        except (StorageUnavailableError, NoAccessError) as error:
            log.warning("a view in use cannot be made again", view=view.id, why=str(error))
