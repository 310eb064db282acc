"""Frozen values, and names that are quick to look up.

Every event of the journal makes several, so nothing is done as often as this. A dataclass that forbids assignment at
run time has to get round its own ban for each field it is given, which takes a constructor ten times as long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoe_client.vocabulary import TextEnum

__all__ = ["TextEnum", "changed", "once", "value"]


if TYPE_CHECKING:
    # The type checker sees the declaration of the standard library: it refuses an assignment to a field of a frozen
    # value.
    from dataclasses import dataclass as value
    from dataclasses import replace as changed
    from functools import cached_property as once
else:
    from dataclasses import dataclass
    from functools import cache
    from operator import attrgetter

    def value(*, frozen, slots=False, kw_only=False):
        """Make a dataclass that compares and hashes as a frozen one; only the type checker keeps it frozen."""
        return dataclass(unsafe_hash=frozen, slots=slots, kw_only=kw_only)

    class once:  # noqa: N801 - used as a decorator
        """A cached_property without its lock, which takes longer than most of what values compute.

        Two threads may compute the same at the same time.
        """

        def __init__(self, compute):
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, holder, owner=None):
            if holder is None:
                return self
            result = holder.__dict__[self._name] = self._compute(holder)
            return result

    def changed(old, /, **changes):
        """Return what `dataclasses.replace` returns, several times as fast; AttributeError for an unknown field.

        Only for a `value` with slots, more than one field, and no keyword-only field.
        """
        kind = type(old)
        result = kind(*_fields(kind)(old))
        for name, new in changes.items():
            setattr(result, name, new)
        return result

    @cache
    def _fields(kind):
        """How to read all fields at once."""
        return attrgetter(*kind.__dataclass_fields__)
