"""Render the tables of commands and their parts in docs/tape.md."""

import re
from functools import cache
from typing import Any

import msgspec

from simulator.contract.files import data_dir
from simulator.domain.commands import Command
from tools.tables import cell, markdown

ROOT = data_dir("contracts").parent
PAGE = ROOT / "docs" / "tape.md"
BEGIN = "<!-- Generated from simulator/domain/commands.py by `make docs`; change it there. -->\n"
END = "<!-- End of what is generated. -->\n"
BESIDE_REQUESTS = ("control", "runtime")
"""The parts whose commands are entries of the tape. Commands of requests are not on the tape, since the requests
are."""

_INTRODUCTION = """
The members of each `command`. Amounts are numbers, times are text.

"""
_PARTS = """
The objects in these members:

"""
_SIMPLE = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}


def as_markdown() -> str:
    """Return the content of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    rows = [_row(name, _components()[name], "command") for name in on_tapes()]
    others = [_row(name, part, "property") for name, part in _components().items() if name in _used(on_tapes())]
    commands = markdown([("`command`", "members", "meaning"), *rows])
    parts = markdown([("object", "members", "meaning"), *others])
    return f"{before}{BEGIN}{_INTRODUCTION}{commands}\n{_PARTS}{parts}\n\n{END}{after}"


@cache
def on_tapes() -> tuple[str, ...]:
    """Return the names of the commands that are entries of a tape, rather than results of a request."""
    paths = [path for part in BESIDE_REQUESTS for path in sorted((ROOT / "simulator" / part).rglob("*.py"))]
    source = "\n".join(path.read_text("utf-8") for path in paths)
    made = set(re.findall(r"\b([A-Z][A-Za-z]+)\(", source))
    return tuple(sorted(one.__name__ for one in Command.__subclasses__() if one.__name__ in made))


@cache
def _components() -> dict[str, Any]:
    commands = [one for one in Command.__subclasses__() if one.__name__ in on_tapes()]
    return msgspec.json.schema_components(commands, ref_template="{name}")[1]


def _used(names: tuple[str, ...]) -> set[str]:
    """Return the names of the structures that commands contain."""
    return {name for name, part in _components().items() if "properties" in part and name not in names}


def _row(name: str, part: dict[str, Any], tag: str) -> tuple[str, str, str]:
    members = [f"`{member}`: {_type(wanted)}" for member, wanted in part["properties"].items() if member != tag]
    if tag != "command" and tag in part["properties"]:
        members.insert(0, f"`{tag}`: `{name}`")
    does = " ".join(part.get("description", "").split()).replace("None", "null").replace("(True)", "(true)")
    return f"`{name}`", cell("; ".join(members)), cell(does)


def _type(wanted: dict[str, Any]) -> str:
    """Describe the type of a member in words."""
    if "$ref" in wanted:
        part = _components()[wanted["$ref"]]
        return " or ".join(f"`{one}`" for one in part["enum"]) if "enum" in part else f"`{wanted['$ref']}`"
    if "anyOf" in wanted:
        return " or ".join(dict.fromkeys(map(_type, wanted["anyOf"])))
    match wanted.get("type"):
        case "array" if "prefixItems" in wanted:
            return f"[{', '.join(map(_type, wanted['prefixItems']))}]"
        case "array":
            return f"list of {_type(wanted['items'])}"
        case "object":
            values = wanted.get("additionalProperties")
            return f"object of {_type(values)}" if isinstance(values, dict) and values else "object"
        case "string" if wanted.get("format") == "decimal":
            return "number"
        case str(simple):
            return _SIMPLE[simple]
    return "anything"
