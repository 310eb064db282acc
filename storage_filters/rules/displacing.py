"""Resolve overrides between actions in O(n log n). Pure.

The first action, in the order of rules and of their actions, with a reason to override another one does so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from storage_filters.rules.rules import BANDWIDTH, Action, Rule

RANK_MAX = 3
_Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An action of a matching rule with matching conditions. rank: how specific its target is, from 1 to 3. place: of
    the rule among all, and of the action in the rule.
    """

    rule: Rule
    action: Action
    rank: int
    place: _Place

    @property
    def is_protected(self) -> bool:
        """Return whether no action can override it."""
        return self.rule.mandatory or self.action.kind == BANDWIDTH


class Overrides:
    """Overrides between actions. candidates: in the order of their places."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        of_kinds: dict[str, list[Candidate]] = defaultdict(list)
        for candidate in candidates:
            of_kinds[candidate.action.kind].append(candidate)
        self._all = _first_above([candidate for candidate in candidates if candidate.rule.replaces_all])
        self._mandatory = {
            kind: next((candidate for candidate in same if candidate.rule.mandatory), None)
            for kind, same in of_kinds.items()
        }
        self._specific = {kind: _first_above(same) for kind, same in of_kinds.items()}
        self._deletes: dict[tuple[str, int], list[Candidate]] = defaultdict(list)
        for entry in candidates:
            if entry.action.verb == "DELETE":
                self._deletes[entry.action.kind, entry.rank].append(entry)

    def override_of(self, one: Candidate) -> tuple[Candidate, str] | None:
        """Return the action that overrides another one, and the reason; None if none does."""
        if one.is_protected:
            return None
        kind = one.action.kind
        reasons = (
            (self._all[one.rank], "replaces all of less specific targets"),
            (self._mandatory[kind], "is mandatory"),
            (self._specific[kind][one.rank], "is more specific"),
            (self._deleting(one), "deletes it"),
        )
        found = [(other, reason) for other, reason in reasons if other is not None]
        return min(found, key=lambda pair: pair[0].place, default=None)

    def _deleting(self, one: Candidate) -> Candidate | None:
        later = self._deletes.get((one.action.kind, one.rank), [])
        at = bisect_right(later, one.place, key=lambda other: other.place)
        return later[at] if at < len(later) else None


def _first_above(candidates: Sequence[Candidate]) -> list[Candidate | None]:
    """Return the first candidate with a higher rank than the index."""
    return [
        next((candidate for candidate in candidates if candidate.rank > rank), None) for rank in range(RANK_MAX + 1)
    ]
