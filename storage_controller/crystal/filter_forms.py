"""Fields of filters in Crystal's API: each kind of filter has the same ones in every request, and no others.

A filter without a `filter_type` is a WebAssembly module, which Crystal does not know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from storage_controller.answers import RequestRefusedError

_COMMON = frozenset(("filter_type", "language", "dsl_name", "dependencies", "main", "put", "get"))
_LATER_ENDS = frozenset(("valid_parameters", "execution_server", "reverse"))
_LATER = {
    "native": _COMMON | _LATER_ENDS | {"post", "head", "delete"},
    "storlet": _COMMON | _LATER_ENDS | {"interface_version"},
}
_STAGES = frozenset(("is_pre_put", "is_post_put", "is_pre_get", "is_post_get"))
_APPENDIX = _STAGES | {
    *("filter_type", "interface_version", "dependencies", "object_metadata", "main"),
    *("has_reverse", "execution_server", "execution_server_reverse"),
}
_OF_APPENDIX = {"native": _APPENDIX, "storlet": _APPENDIX, "global": _APPENDIX | {"execution_order", "enabled"}}
_ENDINGS = {"native": (".py",), "storlet": (".jar", ".py"), "global": (".py",)}


def check_new(fields: Mapping[str, Any]) -> None:
    """Refuse (400) a new filter without the fields of its kind, or with others."""
    forms = _LATER if "dsl_name" in fields else _OF_APPENDIX
    kind = fields.get("filter_type")
    if kind is None and "dsl_name" not in fields:
        raise RequestRefusedError(
            400, "dsl_name, the name of the filter in rules, is required if there is no filter_type"
        )
    if kind is not None:
        _check(fields, forms.get(str(kind)), str(kind), forms)


def check_change(fields: Mapping[str, Any], kind: object) -> None:
    """Refuse (400) changes of a filter of the appendix dialect that do not name all of its fields."""
    wanted = _OF_APPENDIX.get(str(kind))
    _check(fields, None if wanted is None else wanted - {"filter_type"}, str(kind), _OF_APPENDIX)


def check_file(name: str | None, kind: object) -> None:
    """Refuse (400) a program whose name does not end as those of its kind do."""
    endings = _ENDINGS.get(str(kind), ("",))
    if not str(name or "").endswith(endings):
        raise RequestRefusedError(400, f"the name of the file of a {kind} filter must end in {' or '.join(endings)}")


def _check(fields: Mapping[str, Any], wanted: Collection[str] | None, kind: str, kinds: Collection[str]) -> None:
    if wanted is None:
        raise RequestRefusedError(400, f"filter_type: must be {' or '.join(sorted(kinds))}, not {kind[:40]!r}")
    if missing := sorted(set(wanted) - set(fields)):
        raise RequestRefusedError(400, f"{missing[0]} is missing: a {kind} filter needs {', '.join(sorted(wanted))}")
    if more := sorted(set(fields) - set(wanted)):
        raise RequestRefusedError(
            400, f"{more[0][:80]}: no field of a {kind} filter; it has {', '.join(sorted(wanted))}"
        )
