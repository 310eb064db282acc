"""Fast frozen values and cached properties.

Every event of the journal makes several values, so they are made most often of all. A dataclass that forbids assignment
at run time has to circumvent its own ban for each field, which makes a constructor ten times slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoe_client.vocabulary import TextEnum

__all__ = ["TextEnum", "changed", "once", "value"]


if TYPE_CHECKING:
    # The type checker reads the standard library's declaration: it refuses an assignment to a field of a frozen value.
    from dataclasses import dataclass as value
    from dataclasses import replace as changed
    from functools import cached_property as once
else:
    from dataclasses import dataclass
    from functools import cache
    from operator import attrgetter

    def value(*, frozen, slots=False, kw_only=False):
        """Make a dataclass that compares and hashes like a frozen one; only the type checker keeps it frozen."""
        return dataclass(unsafe_hash=frozen, slots=slots, kw_only=kw_only)

    class once:  # noqa: N801 - used as a decorator
        """A cached_property without its lock, which takes longer than most computations of values.

        Two threads may compute the same value at the same time.
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
        """Return the result of `dataclasses.replace`, several times faster; AttributeError for an unknown field.

        Only for a `value` with slots, more than one field, and no keyword-only field.
        """
        kind = type(old)
        result = kind(*_fields(kind)(old))
        for name, new in changes.items():
            setattr(result, name, new)
        return result

    @cache
    def _fields(kind):
        """Return a function that reads all fields at once."""
        return attrgetter(*kind.__dataclass_fields__)
