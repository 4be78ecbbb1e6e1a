"""docs/scenario-reference.md against the schema that it is rendered from."""

import re
from typing import Any

from simulator.scenario.reading.schema_check import schema
from tools.pages.scenario_reference import as_markdown


def test_every_link_of_the_page_leads_to_a_place_on_it() -> None:
    text = as_markdown()
    places = set(re.findall(r"^## (\w+)$", text, re.MULTILINE)) | set(re.findall(r'<a id="(\w+)">', text))
    wanted = set(re.findall(r"\]\(#(\w+)\)", text))
    assert wanted <= places
    assert set(schema()["definitions"]) <= places


def keys(part: Any) -> set[str]:
    """Every key that the schema names anywhere."""
    if isinstance(part, list):
        return set().union(*map(keys, part)) if part else set()
    if not isinstance(part, dict):
        return set()
    own = set(part["properties"]) if isinstance(part.get("properties"), dict) else set()
    return own.union(*(keys(below) for below in part.values()))


def test_every_key_is_on_the_page() -> None:
    page, known = as_markdown(), sorted(keys(schema()))
    assert len(known) > 200
    assert [key for key in known if not re.search(rf"`([\w.\[\]*-]+\.)?{re.escape(key)}`", page)] == []
