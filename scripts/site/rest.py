"""Pages of the REST reference, made from docs/reference/openapi.json."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from scripts.site.staging import ROOT

Json = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
_KEPT = ("minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern", "default")


def pages() -> dict[str, str]:
    """Return the texts of the pages by their paths below docs/."""
    document = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text("utf-8"))
    by_tag: dict[str, list[tuple[str, str, Json]]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                by_tag[methods[method]["tags"][0]].append((path, method, methods[method]))
    texts = {f"reference/rest/{tag}.md": _tag_page(tag, by_tag[tag], document) for tag in sorted(by_tag)}
    texts["reference/rest/models.md"] = _models_page(document)
    texts["reference/rest/index.md"] = _index_page(by_tag)
    return texts


def _index_page(by_tag: Mapping[str, list[tuple[str, str, Json]]]) -> str:
    """Return the list of all calls, by path and method."""
    lines = [
        "# REST reference",
        "",
        "All calls of the HTTP API, by subject. [Models](models.md) has the documents that",
    ]
    lines += ["they take and return, and [errors](../errors.md) the codes of refusals.", ""]
    for tag in sorted(by_tag):
        lines += [f"## {_title(tag)}", "", "| call | what it does |", "|---|---|"]
        lines += [
            f"| [`{method.upper()} {path}`]({tag}.md#{_anchor(operation)}) | {_first_sentence(operation)} |"
            for path, method, operation in by_tag[tag]
        ]
        lines.append("")
    toctree = "".join(f"{tag}\n" for tag in sorted(by_tag))
    return "\n".join(lines) + "\n```{toctree}\n:hidden:\n\n" + toctree + "models\n```\n"


def _tag_page(tag: str, operations: list[tuple[str, str, Json]], document: Json) -> str:
    lines = [f"# REST calls: {tag}", ""]
    for path, method, operation in operations:
        lines += [f"({_anchor(operation)})=", f"## {method.upper()} {path}", "", operation["description"].strip(), ""]
        if "security" not in operation:
            lines += ["This call needs no authentication.", ""]
        rows = [_parameter_row(_resolved(parameter, document)) for parameter in operation.get("parameters", ())]
        if rows:
            lines += ["| parameter | in | type | meaning |", "|---|---|---|---|", *rows, ""]
        if "requestBody" in operation:
            lines += [f"Request body: {_content(operation['requestBody'])}.", ""]
        lines += [
            f"- **{status}**: {_response(_resolved(response, document))}"
            for status, response in operation["responses"].items()
        ]
        lines.append("")
    return "\n".join(lines)


def _models_page(document: Json) -> str:
    lines = ["# REST models", "", "The JSON documents of the [HTTP API](index.md).", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += [f"(model-{name.lower()})=", f"## {name}", "", _plain(schema.get("description", "")), ""]
        if "enum" in schema:
            lines += [" ".join(f"`{value}`" for value in schema["enum"]), ""]
        required = set(schema.get("required", ()))
        if schema.get("properties"):
            lines += ["| field | type | meaning |", "|---|---|---|"]
            for field, value in schema["properties"].items():
                mark = " (required)" if field in required else ""
                lines.append(f"| `{field}`{mark} | {_type(value)} | {_cell(value.get('description', ''))} |")
            lines.append("")
    return "\n".join(lines)


def _parameter_row(parameter: Json) -> str:
    schema = parameter.get("schema", {})
    mark = " (required)" if parameter.get("required") else ""
    meaning = _cell(parameter.get("description", ""))
    return f"| `{parameter['name']}`{mark} | {parameter['in']} | {_type(schema)} | {meaning} |"


def _response(response: Json) -> str:
    words = {"Successful Response": "success", "Validation Error": "invalid request"}
    text = words.get(response["description"], _plain(response["description"]).rstrip("."))
    return f"{text}, {_content(response)}" if response.get("content") else text


def _content(holder: Json) -> str:
    return " or ".join(
        f"{_type(value['schema'])} as `{media}`" if value.get("schema") else f"`{media}`"
        for media, value in holder["content"].items()
    )


def _type(schema: Json) -> str:
    """Return the type of a value in a few words, with its bounds; models are links."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#model-{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[key]))
    if "enum" in schema or "const" in schema:
        return " ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    bounds = ", ".join(
        _cell(f"{key} `{json.dumps(schema[key])}`") for key in _KEPT if schema.get(key) not in (None, "")
    )
    return f"{kind} ({bounds})" if bounds else str(kind)


def _resolved(value: Json, document: Json) -> Json:
    if "$ref" not in value:
        return value
    found: Any = document
    for part in value["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def _first_sentence(operation: Json) -> str:
    return _cell(operation["description"].strip().split(". ")[0].rstrip(".") + ".")


def _anchor(operation: Json) -> str:
    return f"call-{operation['operationId'].replace('_', '-')}"


def _title(tag: str) -> str:
    return tag[0].upper() + tag[1:]


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    return " ".join(text.split())
