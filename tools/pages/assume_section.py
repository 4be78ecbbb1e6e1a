"""Render what `contracts/scenario.schema.json` has of the assumptions, the bundled scenarios and the contract."""

import json
import re
from typing import Any

from simulator.contract.endpoints import endpoints
from simulator.contract.files import data_dir
from simulator.contract.register import rows
from simulator.scenario.library import load_scenario, names

KNOB_PREFIX = "assume."
WITH_CONDITIONS = (
    *("payment_when", "void_when", "dispute_when", "bill_when", "fault_when", "magic_when"),
    *("expected_payments", "expected_callbacks", "expected_calls"),
)
PARAMETER = re.compile(r"{[^}]*}")
NOTICE = "Generated from assumptions.yaml by `make docs`; change it there."


def as_json() -> str:
    """Return `contracts/scenario.schema.json` with the generated `assume` section."""
    schema = json.loads((data_dir("contracts") / "scenario.schema.json").read_text("utf-8"))
    products = sorted(load_scenario("default").catalog.products)
    paths = sorted({PARAMETER.sub("*", each.path) for each in endpoints()})
    schema["definitions"]["assume"] = {
        "$comment": NOTICE,
        "description": "Choices of the register of assumptions, by id.",
        "type": "object",
        "additionalProperties": False,
        "properties": {row["id"]: _key(row) for row in rows() if row["knob"] == KNOB_PREFIX + row["id"]},
    }
    schema["properties"]["extends"]["examples"] = _bases()
    for name in WITH_CONDITIONS:
        members = schema["definitions"][name]["properties"]
        for key, values in (("product", products), ("path", paths)):
            if key in members:
                members[key] = {"description": members[key]["description"], "examples": values, **members[key]}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _bases() -> list[Any]:
    """Return what `extends` may say: what the reference shows, and the other bundled scenarios."""
    shown: list[Any] = ["default", "base.yaml", ["slow-provider", "lost-answers"]]
    return shown + [name for name in names() if name != "default"]


def _key(row: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a knob: an enum of its values, or the schema that it `accepts`."""
    default = row["values"][0]
    if isinstance(default, dict):
        members = {
            name: {"description": f"Of {name}; {value} by default.", **row["accepts"]}
            for name, value in default.items()
        }
        accepted = {"type": "object", "additionalProperties": False, "properties": members}
    else:
        accepted = row.get("accepts") or {"enum": row["values"]}
    return {"description": row["description"], **accepted}
