"""Render the reference in docs/control-api.md: every operation of contracts/control.yaml with its fields."""

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.contract.files import data_dir
from simulator.contract.openapi import CONTROL, load
from tools.pages.schema_tables import definitions_of, fields_table
from tools.tables import markdown

PAGE = data_dir("contracts").parent / "docs" / "control-api.md"
BEGIN = "<!-- Generated from contracts/control.yaml by `make docs`; change it there. -->\n"
END = "<!-- End of what is generated. -->\n"
METHODS = ("get", "post", "put", "patch", "delete")

Part = Mapping[str, Any]


def as_markdown() -> str:
    """Return the content of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{_reference(load(CONTROL))}\n{END}{after}"


def _reference(document: Part) -> str:
    parts = []
    for tag in document["tags"]:
        parts.append(f"## {tag['name'].capitalize()}\n\n{tag['description']}\n")
        parts += [
            _section(document, method, path, item)
            for path, item in document["paths"].items()
            for method in METHODS
            if tag["name"] in item.get(method, {}).get("tags", ())
        ]
    parts.append("## Objects\n\nObjects in the requests and answers above.\n")
    parts += [f"### {_title(name)}\n\n{fields_table(name)}\n" for name in _objects(document)]
    return "\n".join(parts)


def _section(document: Part, method: str, path: str, item: Part) -> str:
    operation = item[method]
    parameters = [_resolved(document, one) for one in [*item.get("parameters", ()), *operation.get("parameters", ())]]
    rows = [_row(one) for one in parameters if one["in"] != "path"]
    parts = [f"### {operation['summary']}", f"`{method.upper()} {path}`", operation.get("description", "")]
    if rows:
        parts.append(markdown([("parameter", "means"), *rows]))
    parts += [f"Body:\n\n{fields_table(name)}" for name in _schemas(operation.get("requestBody", {}))]
    parts += [f"Answer:\n\n{fields_table(name)}" for name in _answers(operation)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _row(parameter: Part) -> tuple[str, str]:
    header = " (header)" if parameter["in"] == "header" else ""
    return f"`{parameter['name']}`{header}", parameter["description"].replace("{", "\\{")


def _answers(operation: Part) -> Iterator[str]:
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            yield from _schemas(answer)


def _schemas(content: Part) -> Iterator[str]:
    """Yield the names of the schemas of a JSON body whose fields can be listed."""
    reference = content.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
    name = reference.removeprefix("schemas/").removesuffix(".json")
    if name and fields_table(name).count("\n") > 1:
        yield name


def _objects(document: Part) -> list[str]:
    """Return the names of the objects that bodies and answers refer to, in alphabetical order."""
    operations = [item[method] for item in document["paths"].values() for method in METHODS if method in item]
    found: set[str] = set()
    waiting = {name for one in operations for name in (*_schemas(one.get("requestBody", {})), *_answers(one))}
    while waiting:
        new = set(definitions_of(waiting.pop())) - found
        found |= new
        waiting |= new
    return sorted(found, key=_title)


def _title(name: str) -> str:
    text = name.partition("#")[2] or name
    return text.replace("-", " ").replace("_", " ").capitalize()


def _resolved(document: Part, part: Part) -> Part:
    reference = part.get("$ref", "")
    return document["components"]["parameters"][reference.rpartition("/")[2]] if reference else part
