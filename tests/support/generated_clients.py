"""Clients that other people's generators write from the served documents: the blocks of docs/generate-a-client.md,
played in a folder that the workers of a test run share.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from tests.support.pages import Block, assert_shown, blocks, empty_folder, follow, printed
from tests.support.processes import ROOT
from tests.support.programs import NODE_COMMANDS

PAGE = (ROOT / "docs" / "generate-a-client.md").read_text("utf-8")
STEPS = [block for block in blocks(PAGE) if block.language != "console"]
PYTHON, TYPESCRIPT = "python", "typescript"

# npm and its tools must not fetch or report anything, or read a developer's settings.
QUIET = {
    "NPM_CONFIG_USERCONFIG": "none",
    "NPM_CONFIG_OFFLINE": "true",
    "NPM_CONFIG_UPDATE_NOTIFIER": "false",
    "REDOCLY_TELEMETRY": "off",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
}

STEP_S = 180.0  # generating and compiling take seconds of processor time, on a machine that may be busy

_PYTHON_NAMES = (".py", "generator.yaml")
_PYTHON_COMMANDS = ("python ", "openapi-python-client ")


def side(block: Block) -> str:
    """Return the language of a block that follows the steps that fetch the documents."""
    if block.action:
        return PYTHON if block.name.endswith(_PYTHON_NAMES) else TYPESCRIPT
    return PYTHON if any(command in block.text for command in _PYTHON_COMMANDS) else TYPESCRIPT


def play(folder: Path, language: str, prepare: Callable[[Path], None] | None = None) -> None:
    """Print the documents into `folder/empty`, run `prepare`, then follow the page's steps for a language.
    `printed.json` has the output of each command."""
    work, shown, all_shown = empty_folder(folder), "", {}
    _commands(folder / "bin", work)
    fetching, rest = STEPS[:1], STEPS[1:]
    with mock.patch.dict(os.environ, QUIET):
        follow(fetching, work)
        if prepare is not None:
            prepare(work)
        is_ours = True
        for block in rest:
            is_ours = side(block) == language if block.language != "text" else is_ours
            if is_ours and block.language == "text":
                assert_shown(block.text, shown)
            elif is_ours and block.language == "sh":
                all_shown[block.text] = shown = printed(block.text, work, "", STEP_S)
            elif is_ours:
                follow([block], work)
    (work / "printed.json").write_text(json.dumps(all_shown))


def _commands(programs: Path, work: Path) -> None:
    """Provide the programs that the page installs: commands of this environment, and npm packages."""
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "python").chmod(0o755)
    for name in ("openapi-python-client", "ruff"):
        (programs / name).symlink_to(Path(sys.executable).parent / name)
    (work / "node_modules").symlink_to(NODE_COMMANDS.parent)
