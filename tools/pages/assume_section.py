"""Render the `assume` section of `contracts/scenario.schema.json` from the assumptions."""

import json
from typing import Any

from simulator.contract.files import data_dir
from simulator.contract.register import rows

KNOB_PREFIX = "assume."
NOTICE = "Generated from assumptions.yaml by `make docs`; change it there."


def as_json() -> str:
    """Return `contracts/scenario.schema.json` with the generated `assume` section."""
    schema = json.loads((data_dir("contracts") / "scenario.schema.json").read_text("utf-8"))
    schema["definitions"]["assume"] = {
        "$comment": NOTICE,
        "description": "Choices of the register of assumptions, by id.",
        "type": "object",
        "additionalProperties": False,
        "properties": {row["id"]: _key(row) for row in rows() if row["knob"] == KNOB_PREFIX + row["id"]},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _key(row: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one knob: an enum of its values, or the schema that it `accepts`."""
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
