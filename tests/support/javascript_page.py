"""A project that has the JavaScript package and the examples of docs/javascript.md and of the package's README."""

from pathlib import Path

import pytest

from tests.support.npm_package import CLIENT, install
from tests.support.pages import Block, blocks
from tests.support.processes import ROOT
from tests.support.shared_work import once

PAGE = (ROOT / "docs" / "javascript.md").read_text("utf-8")
README = (CLIENT / "README.md").read_text("utf-8")
STEPS = [block for block in blocks(PAGE) if block.language != "console"]


def javascript_project(factory: pytest.TempPathFactory) -> Path:
    """Return a project that has the package and the page's files; all workers of a run share it."""
    return once(factory, "javascript-client", _fill) / "project"


def _fill(folder: Path) -> None:
    install(folder)
    for step in STEPS:
        if step.action:
            (folder / "project" / step.name).write_text(step.text)
    node, vitest = (block.text for block in blocks(README) if block.language == "js")
    (folder / "project" / "readme.test.js").write_text(node)
    (folder / "project" / "readme.spec.js").write_text(vitest)


def output_of(command: str) -> Block:
    """Return the page's block of what a command prints."""
    (at,) = [number for number, step in enumerate(STEPS) if step.text == f"{command}\n"]
    return STEPS[at + 1]
