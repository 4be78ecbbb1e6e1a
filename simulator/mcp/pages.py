"""Texts for an assistant: pages of the documentation, bundled scenarios, the schema, and prompts."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import mcp.types as types

from simulator.contract.files import data_dir
from simulator.domain.model.likeness import nearest
from simulator.mcp.tools import ToolAnswer, text_schema, tool
from simulator.scenario.library import bundled_path, descriptions

PAGE_BYTES_MAX: Final = 18_000
FIRST: Final = ("quickstart", "service", "signing", "webhooks", "scenarios", "audit")
TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)

PROMPTS: Final[Mapping[str, Mapping[str, str]]] = {
    "integrate_step_by_step": {
        "language": "The programming language, such as Python.",
        "product": "The product to sell, such as RELOAD.",
    },
    "why_does_my_webhook_fail": {"refid": "The refid of the payment.", "sandbox": "The id of the sandbox."},
}
"""The prompts with their arguments. Their texts are on the page `assistant`."""


def _pages() -> dict[str, Path]:
    return {path.stem: path for path in sorted(data_dir("docs").glob("*.md"))}


@cache
def titles() -> dict[str, str]:
    """Return the title of each page of the documentation by its name."""
    return {name: TITLE.findall(path.read_text("utf-8"))[0] for name, path in _pages().items()}


@tool(
    {
        "page": text_schema("The name of a page, such as signing."),
        "find": text_schema("Begin at the section whose heading has this text, or else whose text has it."),
        "offset": {"type": "integer", "minimum": 0, "description": "Begin at this character."},
    }
)
def read_docs(page: str | None = None, find: str = "", offset: int = 0) -> ToolAnswer:
    """Read a page of the documentation. Without a page, list all pages."""
    if page is None:
        lines = [f"{name}: {title}" for name, title in titles().items()]
        return ToolAnswer("\n".join([f"Begin with {', '.join(FIRST)}.", *lines]), {"pages": titles()})
    name = page.removesuffix(".md")
    if name not in titles():
        near = nearest(name, titles())
        hint = f"did you mean {near!r}?" if near else "call read_docs without a page to list them"
        raise LookupError(f"there is no page {page!r}; {hint}")
    whole = _pages()[name].read_text("utf-8")
    begin = _place(whole, find) if find else offset
    if begin >= len(whole):
        raise ValueError(f"the page ends at offset {len(whole)}")
    shown = whole[begin:].encode()[:PAGE_BYTES_MAX].decode("utf-8", "ignore")
    end = begin + len(shown)
    rest = f"(Pass offset={end} to get the rest.)" if end < len(whole) else ""
    return ToolAnswer(shown, {"page": name, "offset": begin, "next_offset": end if rest else None}, rest=rest)


def _place(page: str, wanted: str) -> int:
    """Return where the first section with a text in its heading begins, or else the first with the text anywhere."""
    quoted, flags = re.escape(wanted), re.MULTILINE | re.IGNORECASE
    found = re.search(rf"^#.*{quoted}", page, flags) or re.search(quoted, page, flags)
    if found is None:
        raise LookupError(f"the page does not have the text {wanted!r}")
    return max(page.rfind(f"\n{level} ", 0, found.end()) for level in ("##", "###", "####")) + 1


@cache
def resources() -> dict[str, tuple[types.Resource, Path]]:
    """Return the resources by URI, each with its file."""
    schema = data_dir("contracts") / "scenario.schema.json"
    rows = [
        *(("docs", name, titles()[name], "text/markdown", path) for name, path in _pages().items()),
        *(("scenarios", name, line, "application/yaml", bundled_path(name)) for name, line in descriptions().items()),
        ("schema", "scenario", "The JSON Schema of scenario files", "application/schema+json", schema),
    ]
    found = {}
    for kind, name, line, mime_type, path in rows:
        uri = f"reseller-sim://{kind}/{name}"
        found[uri] = types.Resource(uri=uri, name=name, description=line, mime_type=mime_type), path
    return found


def prompt(name: str) -> types.Prompt:
    """Return a prompt as hosts list it; its first line describes it."""
    arguments = [types.PromptArgument(name=argument, description=line) for argument, line in PROMPTS[name].items()]
    return types.Prompt(name=name, description=prompt_text(name, {}).partition("\n")[0], arguments=arguments)


def prompt_text(name: str, given: Mapping[str, str]) -> str:
    """Return the text of a prompt, with the given arguments as its last lines."""
    page = _pages()["assistant"].read_text("utf-8")
    text = page.partition(f"<!-- prompt: {name} -->\n```text\n")[2].partition("\n```")[0]
    values = {argument: " ".join(given.get(argument, "").split()) for argument in PROMPTS[name]}
    return "\n".join([text, *(f"{argument}: {value}" for argument, value in values.items() if value)])
